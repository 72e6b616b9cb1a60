import {
  Bool,
  Char,
  fieldsOf,
  Integer,
  Json,
  SecretText,
  type Field,
} from '../common/fields/field.js';
import { list, STRING } from '../common/fields/json-schema.js';
import type { SettingDeclaration } from '../config/setting.js';
import { SETTINGS } from '../config/settings.js';
import { COMPUTED_SETTING_FIELDS } from './computed-settings.js';

/** The settings as fields; those that may not be changed at run time are read-only. */
abstract class SettingsSchema {}

function decoratorOf(setting: SettingDeclaration<unknown>): PropertyDecorator {
  const { type, help, min, max } = setting;
  const options = { help, default: setting.default, column: null, readOnly: !setting.runtime };
  switch (type) {
    case 'integer':
      return Integer({ ...options, min: min ?? 0, max: max ?? null });
    case 'boolean':
      return Bool(options);
    case 'list':
      return Json({ ...options, schema: list(STRING) });
    case 'secret':
      return SecretText(options);
    default:
      return Char({ ...options, max: 4096 });
  }
}

for (const [name, declaration] of Object.entries(SETTINGS)) {
  decoratorOf(declaration)(SettingsSchema.prototype, name);
}

/** Every setting, what the program decides last. */
export const SETTING_FIELDS: readonly Field[] = [
  ...fieldsOf(SettingsSchema),
  ...COMPUTED_SETTING_FIELDS,
];

/** The settings that may be changed at run time, as fields of a body. */
export const RUNTIME_SETTING_FIELDS = SETTING_FIELDS.filter(({ readOnly }) => !readOnly);
