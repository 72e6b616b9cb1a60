import {
  Bool,
  Char,
  fieldsOf,
  Integer,
  Json,
  SecretText,
  type Field,
} from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import * as json from '../common/fields/json-schema.js';
import { maxOfText, type SettingDeclaration } from '../config/setting.js';
import { SETTINGS, type SettingName } from '../config/settings.js';
import { COMPUTED_SETTING_FIELDS } from './computed-settings.js';

/** Display names of categories that are not derived from the slug. */
const TITLES: Readonly<Record<string, string>> = { ui: 'UI', 'named-url': 'Named URL' };

/** Returns the display name of a category. */
export const categoryName = (slug: string): string => TITLES[slug] ?? labelOf(slug);

const ABBREVIATIONS =
  /\b(?:api|awx|cpu|git|hsts|http|https|id|ip|ms|scm|ssh|tcp|tls|tmp|ui|uri|url|uuid)(s?)\b/gi;

/** Returns the display name of a setting: "Base URL" for `BASE_URL`. */
const settingLabel = (name: string): string =>
  labelOf(name.toLowerCase()).replace(
    ABBREVIATIONS,
    (word, plural: string) => word.slice(0, word.length - plural.length).toUpperCase() + plural,
  );

/** Settings as fields. Settings that cannot be changed at run time are read-only. */
abstract class SettingsSchema {}

function decoratorOf(
  name: string,
  setting: SettingDeclaration<unknown>,
  control?: Field['control'],
): PropertyDecorator {
  const { type, help, min, max, unit, category, choices = [], runtime = false } = setting;
  const options = {
    label: settingLabel(name),
    help,
    default: setting.default,
    nullable: setting.default === null,
    column: null,
    readOnly: !runtime,
    ...(control ? { control } : {}),
    options: () => ({
      category: categoryName(category),
      category_slug: category,
      ...(unit ? { unit } : {}),
      ...(runtime ? {} : { read_only: true }),
    }),
  };
  switch (type) {
    case 'integer':
      return Integer({ ...options, min: min ?? 0, max: max ?? null });
    case 'boolean':
      return Bool(options);
    case 'map':
      return Json({ ...options, schema: json.mapOf(json.STRING) });
    case 'list':
      return Json({
        ...options,
        schema: json.list(
          choices.length > 0 ? { ...json.STRING, enum: [...choices] } : json.STRING,
        ),
      });
    case 'secret':
      return SecretText(options);
    default:
      return Char({
        ...options,
        choices: choices.map((choice) => [choice, CHOICE_LABELS[choice] ?? capitalized(choice)]),
        max: maxOfText(setting),
      });
  }
}

/** Labels of choices that are abbreviations or names. */
const CHOICE_LABELS: Readonly<Record<string, string>> = {
  https: 'HTTPS',
  tcp: 'TCP',
  tls: 'TLS',
  udp: 'UDP',
  sumologic: 'Sumo Logic',
};
const capitalized = (word: string): string =>
  word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

for (const [name, declaration] of Object.entries(SETTINGS)) {
  decoratorOf(name, declaration)(SettingsSchema.prototype, name);
}

/** Settings that existing clients read and set under another name. Forms do not repeat them. */
const ALIASES: ReadonlyMap<string, SettingName> = new Map([['TOWER_URL_BASE', 'BASE_URL']]);

for (const [alias, name] of ALIASES) {
  decoratorOf(alias, SETTINGS[name], 'none')(SettingsSchema.prototype, alias);
}

/** Returns the declared name of a setting or an alias; null for an unknown name. */
export function declaredName(name: string): SettingName | null {
  const declared = ALIASES.get(name) ?? name;
  return isDeclared(declared) ? declared : null;
}

const isDeclared = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

/** All settings. Computed settings are last. */
export const SETTING_FIELDS: readonly Field[] = [
  ...fieldsOf(SettingsSchema),
  ...COMPUTED_SETTING_FIELDS,
];

/** Returns the category of a setting. */
export const categoryOf = ({ options }: Field): string => String(options?.().category_slug);

/** Settings that can be changed at run time, as fields of a body. */
export const RUNTIME_SETTING_FIELDS = SETTING_FIELDS.filter(({ readOnly }) => !readOnly);
