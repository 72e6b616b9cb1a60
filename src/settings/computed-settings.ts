import { Bool, Char, Json, fieldsOf, type Field } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { namedUrlFormat } from '../common/resource/natural-key.js';
import { resources } from '../common/resource/define-resource.js';

/** Returns the options of a read-only setting. */
const readOnlyIn = (slug: string, category: string) => ({
  readOnly: true,
  column: null,
  options: () => ({ category, category_slug: slug, read_only: true }),
});
const SYSTEM = readOnlyIn('system', 'System');

/** Read-only settings that the program computes. */
class ComputedSettingsSchema {
  @Json({
    ...readOnlyIn('named-url', 'Named URL'),
    schema: json.mapOf(json.STRING),
    label: 'Named URL formats',
    help: 'How objects of each collection are named in a URL in place of their id.',
  })
  NAMED_URL_FORMATS!: Record<string, string>;

  @Char({ ...SYSTEM, label: 'Install UUID', help: 'Id of this installation.' })
  INSTALL_UUID!: string;

  @Bool({
    ...SYSTEM,
    label: 'Is Kubernetes',
    help: 'True if runs are pods of a cluster. Runs are processes or containers of workers, so the value is false.',
  })
  IS_K8S!: boolean;
}

type InstallationUuid = () => Promise<string>;

const VALUES: Readonly<Record<string, (installationUuid: InstallationUuid) => unknown>> = {
  NAMED_URL_FORMATS: () =>
    Object.fromEntries(
      resources().flatMap((definition) => {
        const format = namedUrlFormat(definition);
        return format ? [[definition.path, format]] : [];
      }),
    ),
  INSTALL_UUID: (installationUuid) => installationUuid(),
  IS_K8S: () => false,
};

export const COMPUTED_SETTING_FIELDS: readonly Field[] = fieldsOf(ComputedSettingsSchema);

/** Returns the value of a computed setting; undefined for any other name. */
export const computedSetting = async (name: string, uuid: InstallationUuid): Promise<unknown> =>
  VALUES[name]?.(uuid);
