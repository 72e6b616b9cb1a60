import { Injectable } from '@nestjs/common';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { fieldsOf } from '../common/fields/field.js';
import { slugOf } from '../common/fields/label.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { readFields } from '../common/fields/validation.js';
import { memberOf, tableOf } from '../common/records.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { AuthenticatorMap, type Authenticator } from './authenticator.entity.js';
import { authenticatorKind, secretOf } from './authenticator-kinds.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { ExternalIdentitiesRepository } from './external-identities.repository.js';

const LINKED =
  'Users are linked to accounts of the present provider. Create another authenticator, or delete the identities first.';

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Returns the context that the secret of a configuration is sealed for. */
export const secretContext = (id: number, name: string): string =>
  rowContext('authenticators', id, name);

/** Validates the configuration of authenticators and seals its secret. */
@Injectable()
export class AuthenticatorHooks implements ResourceHooks<Authenticator> {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly identities: ExternalIdentitiesRepository,
    private readonly box: SecretBox,
    private readonly runtime: RuntimeSettings,
  ) {}

  async prepareCreate(values: ValuesOf<Authenticator>): Promise<Prepared<Authenticator>> {
    const slug = values.slug || slugOf(values.name ?? '', '-', 64);
    if (!SLUG.test(slug)) {
      throw Invalid.field('slug', 'Use lower-case letters, digits and single hyphens.');
    }
    // The secret is sealed for the id and never written in plain text.
    const id = await this.authenticators.takeId();
    const configuration = this.seal({ id, kind: values.kind }, values.configuration ?? {});
    return { values: { slug }, columns: { id, configuration: JSON.stringify(configuration) } };
  }

  async prepareUpdate(
    row: RowOf<Authenticator>,
    { kind, configuration, enabled }: ValuesOf<Authenticator>,
  ): Promise<Prepared<Authenticator>> {
    if (row.enabled && enabled === false) await this.assertOtherEnabled(row.id);
    if (kind && kind !== row.kind) throw Invalid.field('kind', 'The kind cannot be changed.');
    if (!configuration) return {};
    const sealed = this.seal(row, configuration, row.configuration);
    await this.assertSameSubjects(row, sealed);
    return { columns: { configuration: JSON.stringify(sealed) } };
  }

  /** @throws Invalid if another user of the provider could log in as a linked user */
  private async assertSameSubjects(row: RowOf<Authenticator>, after: object): Promise<void> {
    const changed = authenticatorKind(row.kind).identifying.filter(
      (name) => memberOf(after, name) !== memberOf(row.configuration, name),
    );
    if (changed.length === 0) return;
    if (!(await this.identities.existsBy({ authenticator_id: row.id }))) return;
    throw new Invalid({ configuration: tableOf(changed, () => [LINKED]) });
  }

  async prepareDelete({ id, enabled }: RowOf<Authenticator>): Promise<void> {
    if (enabled) await this.assertOtherEnabled(id);
  }

  /** @throws Invalid for the last enabled authenticator if local passwords are disabled */
  private async assertOtherEnabled(id: number): Promise<void> {
    const { DISABLE_LOCAL_AUTH } = await this.runtime.get('DISABLE_LOCAL_AUTH');
    if (!DISABLE_LOCAL_AUTH) return;
    const enabled = await this.authenticators.lockEnabled();
    if (enabled.some((enabledId) => enabledId !== id)) return;
    throw Invalid.field(
      'enabled',
      'The last authenticator stays enabled while DISABLE_LOCAL_AUTH is on.',
    );
  }

  private seal(
    { id, kind }: { id: number; kind: string | undefined },
    sent: object,
    stored: object = {},
  ): object {
    const { schema, faults } = authenticatorKind(kind);
    const { values, errors } = readFields(schema, { ...sent });
    for (const key of Object.keys(sent)) {
      if (!fieldsOf(schema).some(({ name }) => name === key)) errors[key] = ['Unknown key.'];
    }
    for (const [key, texts] of Object.entries(faults(values))) errors[key] ??= texts;
    if (Object.keys(errors).length > 0) throw new Invalid({ configuration: errors });
    const name = secretOf(kind)?.name ?? '';
    const secret = values[name];
    if (secret === ENCRYPTED) return { ...values, [name]: memberOf(stored, name) ?? '' };
    return typeof secret === 'string' && secret !== ''
      ? { ...values, [name]: this.box.seal(secret, secretContext(id, name)) }
      : values;
  }
}

/** Verifies that the fields of a map are consistent. */
@Injectable()
export class AuthenticatorMapHooks implements ResourceHooks<AuthenticatorMap> {
  async prepareCreate(values: ValuesOf<AuthenticatorMap>): Promise<void> {
    assertMap(values);
  }

  async prepareUpdate(
    { organization_id: organization, team_id: team, ...row }: RowOf<AuthenticatorMap>,
    values: ValuesOf<AuthenticatorMap>,
  ): Promise<void> {
    assertMap({ ...row, organization, team, ...values });
  }
}

function triggerErrors({ trigger, claim, value }: ValuesOf<AuthenticatorMap>): FieldErrors {
  if (trigger === 'always') return claim || value ? { trigger: [IGNORED_CLAIM] } : {};
  return {
    ...(!claim && { claim: ['The trigger needs a claim.'] }),
    ...(!value && { value: ['The trigger needs a value.'] }),
  };
}

const IGNORED_CLAIM =
  'This map would take effect at every login. Choose a trigger that compares the claim, ' +
  'or leave claim and value empty.';

function assertMap(map: ValuesOf<AuthenticatorMap>): void {
  const errors = triggerErrors(map);
  const { map_type: type = '', role = '' } = map;
  for (const name of ['organization', 'team'] as const) {
    const isSet = typeof map[name] === 'number';
    if (type === name && !isSet) errors[name] = [`A map of type ${type} requires this field.`];
    if (type !== name && isSet) errors[name] = [`A map of type ${type} does not use this field.`];
  }
  const roles = ['organization', 'team'].includes(type)
    ? resource(type).roles.map(({ field }) => field)
    : [''];
  if (!roles.includes(role)) {
    errors.role =
      role === '' || roles[0] !== ''
        ? [`Enter one of ${roles.join(', ')}.`]
        : [`A map of type ${type} has no role.`];
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
}
