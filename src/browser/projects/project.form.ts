import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';

/** Form that starts with Git, from which most projects come; the style sheet hides other fields. */
@Injectable()
@PageFormOf('project')
export class ProjectForm implements PageForm {
  readonly preselects = ['organization'];

  fields(fields: readonly Field[]): readonly Field[] {
    return fields.map((field) =>
      field.name === 'scm_type' ? { ...field, default: 'git' } : field,
    );
  }
}
