import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { resource } from '../../common/resource/registry.js';
import { FILTER_FORM, withFilterFields, withFilterPlaces } from '../shared/filter-fields.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';

/** Form that starts with Git, from which most projects come; the style sheet hides other fields. */
@Injectable()
@PageFormOf('project')
export class ProjectForm implements PageForm {
  readonly preselects = ['organization'];
  readonly pages = withFilterPlaces(resource('project').pages);
  readonly toBody = FILTER_FORM.toBody;
  readonly fromObject = FILTER_FORM.fromObject;
  readonly errorsIn = FILTER_FORM.errorsIn;

  fields(
    fields: readonly Field[],
    _chosen: unknown,
    known: Readonly<Record<string, unknown>>,
  ): readonly Field[] {
    return withFilterFields(fields, known.webhook_service).map((field) =>
      field.name === 'scm_type' ? { ...field, default: 'git' } : field,
    );
  }
}
