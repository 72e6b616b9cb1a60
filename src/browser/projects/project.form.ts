import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { resource } from '../../common/resource/define-resource.js';
import { FilterForm, withFilterFields, withFilterLayout } from '../shared/filter-fields.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';

/**
 * Form that starts with Git, from which most projects come. The style sheet hides the fields that have no
 * effect with the selected source control.
 */
@Injectable()
@PageFormOf('project')
export class ProjectForm extends FilterForm implements PageForm {
  readonly preselects = ['organization'];
  readonly pages = withFilterLayout(resource('project').pages);

  fields(fields: readonly Field[], { known }: FormState): readonly Field[] {
    return withFilterFields(fields, known.webhook_service).map((field) =>
      field.name === 'scm_type' ? { ...field, default: 'git' } : field,
    );
  }
}
