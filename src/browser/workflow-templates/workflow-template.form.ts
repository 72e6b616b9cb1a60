import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { resource } from '../../common/resource/define-resource.js';
import { FilterForm, withFilterFields, withFilterLayout } from '../shared/filter-fields.js';
import { isFullTemplate, LABEL_FIELDS, LABEL_LISTS } from '../shared/label-fields.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';

/** Form with additional fields for the labels and webhook filters of the workflow. */
@Injectable()
@PageFormOf('workflow_job_template')
export class WorkflowTemplateForm extends FilterForm implements PageForm {
  readonly lists = LABEL_LISTS;
  readonly preselects = ['organization'];
  readonly pages = withFilterLayout(resource('workflow_job_template').pages);

  fields(fields: readonly Field[], { known }: FormState): readonly Field[] {
    if (!isFullTemplate(fields)) return fields;
    return [...withFilterFields(fields, known.webhook_service), ...LABEL_FIELDS];
  }
}
