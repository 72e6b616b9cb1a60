import { Char, declareFields, References, type Field } from '../../common/fields/field.js';
import type { FormList } from './page-forms.service.js';

/** Returns true for the fields of a full template; the form of a copy has only a name. */
export const isFullTemplate = (fields: readonly Field[]): boolean =>
  fields.some(({ name }) => name === 'ask_labels_on_launch');

/** Fields of a form for the labels of its object. */
export const LABEL_FIELDS: readonly Field[] = declareFields({
  labels: References('label'),
  new_labels: Char({
    max: null,
    help: 'Names, separated by commas. Labels that do not exist are created.',
  }),
});

export const LABEL_LISTS = {
  labels: { list: 'labels' },
  new_labels: { list: 'labels', creates: true },
} as const satisfies Record<string, FormList>;
