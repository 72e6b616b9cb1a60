import { Bool, Char, fieldsOf, Integer, type Field } from '../common/fields/field.js';
import type { SettingDeclaration } from '../config/setting.js';
import { SETTINGS } from '../config/settings.js';

/** The settings that may be changed at run time, as fields of a body. */
abstract class RuntimeSettingsSchema {}

function decoratorOf({
  type,
  help,
  min,
  max,
  ...rest
}: SettingDeclaration<unknown>): PropertyDecorator {
  const options = { help, default: rest.default };
  switch (type) {
    case 'integer':
      return Integer({ ...options, min: min ?? 0, max: max ?? null });
    case 'boolean':
      return Bool(options);
    default:
      return Char({ ...options, max: 4096 });
  }
}

for (const [name, declaration] of Object.entries(SETTINGS)) {
  const setting = declaration as SettingDeclaration<unknown>;
  if (setting.runtime) decoratorOf(setting)(RuntimeSettingsSchema.prototype, name);
}

export const RUNTIME_SETTING_FIELDS: readonly Field[] = fieldsOf(RuntimeSettingsSchema);
