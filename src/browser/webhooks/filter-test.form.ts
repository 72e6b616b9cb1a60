import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';
import { FilterForm, withFilterFields } from '../shared/filter-fields.js';

/** Form that tests webhook filters, with fields instead of JSON. */
@Injectable()
@PageFormOf(...RECEIVER_KINDS.map(({ type }) => `${type}s_webhook_filters_test`))
export class FilterTestForm extends FilterForm implements PageForm {
  fields(fields: readonly Field[]): readonly Field[] {
    return withFilterFields(fields, null);
  }
}
