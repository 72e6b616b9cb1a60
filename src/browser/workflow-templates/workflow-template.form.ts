import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { isTemplate, LABEL_FIELDS, LABEL_LISTS } from '../shared/label-fields.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';

/** Form that also has the labels of the workflow. */
@Injectable()
@PageFormOf('workflow_job_template')
export class WorkflowTemplateForm implements PageForm {
  readonly lists = LABEL_LISTS;
  readonly preselects = ['organization'];

  fields(fields: readonly Field[]): readonly Field[] {
    return isTemplate(fields) ? [...fields, ...LABEL_FIELDS] : fields;
  }
}
