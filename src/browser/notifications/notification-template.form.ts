import { Injectable } from '@nestjs/common';
import { partsOf } from '../../common/fields/text.js';
import {
  Bool,
  Char,
  declareFields,
  Integer,
  Json,
  SecretText,
  Text,
  type Field,
  type FieldOptions,
} from '../../common/fields/field.js';
import { documentValues } from '../shared/form-values.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import type { Item } from '../shared/value-views.js';
import { isRecord, listOf, mapValues } from '../../common/records.js';
import type { ConfigurationField, FieldType } from '../../notifications/backends/backend.js';
import {
  NOTIFICATION_TYPES,
  type NotificationType,
} from '../../notifications/backends/notification-type.js';
import { backendFor } from '../../notifications/backends/registry.js';

const DOCUMENT = 'notification_configuration';

/** Form control of each field type; a list is a text with one entry per line. */
const CONTROLS: Record<FieldType, (options: FieldOptions) => PropertyDecorator> = {
  string: Char,
  int: Integer,
  bool: Bool,
  list: Text,
  password: SecretText,
  object: Json,
};

const HELP: Partial<Record<FieldType, string>> = { list: 'One per line.', object: 'As JSON.' };

/** Form that asks for the notification type, then for its configuration fields instead of JSON. */
@Injectable()
@PageFormOf('notification_template')
export class NotificationTemplateForm implements PageForm {
  readonly choice = 'notification_type';

  fields(fields: readonly Field[], { chosen }: FormState): readonly Field[] {
    const type = typeOf(chosen);
    if (!type) return fields;
    return fields.flatMap((field) => {
      if (field.name === this.choice) return [];
      return field.name === DOCUMENT ? configurationFields(type) : [withExampleOf(type, field)];
    });
  }

  toBody(filled: Record<string, unknown>): Record<string, unknown> {
    const type = typeOf(filled[this.choice]);
    const configuration = filled[DOCUMENT];
    if (!type || !isRecord(configuration)) return filled;
    const { fields } = backendFor(type);
    const entries = Object.entries(configuration).map(([key, value]): [string, unknown] => [
      key,
      fields[key]?.type === 'list' ? partsOf(String(value), '\n') : value,
    ]);
    return { ...filled, [DOCUMENT]: Object.fromEntries(entries) };
  }

  fromObject({ [DOCUMENT]: configuration }: Item): Record<string, unknown> {
    return mapValues(documentValues(DOCUMENT, configuration), (value) =>
      Array.isArray(value) ? listOf(value).map(String).join('\n') : value,
    );
  }
}

const typeOf = (value: unknown): NotificationType | undefined =>
  NOTIFICATION_TYPES.find((type) => type === value);

/** Returns a field with the example of the chosen type only. */
const withExampleOf = (type: NotificationType, field: Field): Field => {
  const { label } = backendFor(type);
  const example = field.examples?.()[`${label} (${type})`];
  return example === undefined ? field : { ...field, examples: () => ({ [label]: example }) };
};

function configurationFields(type: NotificationType): readonly Field[] {
  const { fields, recipientKey } = backendFor(type);
  const controls = Object.entries(fields).map(([key, field]) => {
    const required = key === recipientKey || field.url === true;
    return [`${DOCUMENT}.${key}`, CONTROLS[field.type](optionsOf(field, required))] as const;
  });
  return declareFields(Object.fromEntries(controls));
}

const optionsOf = (
  { label, type, choices = [], ...field }: ConfigurationField,
  required: boolean,
): FieldOptions => ({
  label,
  required,
  help: HELP[type] ?? '',
  choices: choices.map((value) => [value, value] as const),
  // An empty field omits the value.
  ...(field.optional && type !== 'bool' ? { nullable: true } : {}),
  ...(field.default === undefined ? {} : { default: field.default }),
  ...(type === 'int' ? { min: field.min ?? null, max: field.max ?? null } : {}),
});
