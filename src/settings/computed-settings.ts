import { Json, fieldsOf, type Field } from '../common/fields/field.js';
import { mapOf, STRING } from '../common/fields/json-schema.js';
import { namedUrlFormat } from '../common/resource/natural-key.js';
import { resources } from '../common/resource/registry.js';

/** What clients read as settings and the program decides: nothing sets it. */
class ComputedSettingsSchema {
  @Json({
    readOnly: true,
    column: null,
    schema: mapOf(STRING),
    label: 'Named URL formats',
    options: () => ({ category: 'Named URL', category_slug: COMPUTED_CATEGORY, read_only: true }),
    help: 'How objects of each collection are named in a URL in place of their id.',
  })
  NAMED_URL_FORMATS!: Record<string, string>;
}

const VALUES: Readonly<Record<string, () => unknown>> = {
  NAMED_URL_FORMATS: () =>
    Object.fromEntries(
      resources().flatMap((definition) => {
        const format = namedUrlFormat(definition);
        return format ? [[definition.path, format]] : [];
      }),
    ),
};

export const COMPUTED_SETTING_FIELDS: readonly Field[] = fieldsOf(ComputedSettingsSchema);

/** Category under which they are shown. */
export const COMPUTED_CATEGORY = 'named-url';

export const computedSetting = (name: string): unknown => VALUES[name]?.();
