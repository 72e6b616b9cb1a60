import { Injectable } from '@nestjs/common';
import { rowContext, SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { fieldsOf } from '../common/fields/field.js';
import { slugOf } from '../common/fields/label.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { readFields } from '../common/fields/validate.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { AuthenticatorMap, OidcConfiguration, type Authenticator } from './authenticator.entity.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns the context that a client secret is sealed for. */
export const secretContext = (id: number): string =>
  rowContext('authenticators', id, 'client_secret');

/** Validates the configuration of authenticators and seals its secret. */
@Injectable()
export class AuthenticatorHooks implements ResourceHooks<Authenticator> {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly box: SecretBox,
  ) {}

  async prepareCreate(values: ValuesOf<Authenticator>): Promise<Prepared<Authenticator>> {
    const slug = values.slug || slugOf(values.name ?? '', '-', 64);
    if (!SLUG.test(slug)) {
      throw Invalid.field('slug', 'Use lower-case letters, digits and single hyphens.');
    }
    // The secret is sealed for the id and never written in plain text.
    const id = await this.authenticators.takeId();
    const configuration = this.sealed(id, values.configuration ?? {});
    return { values: { slug }, columns: { id, configuration: JSON.stringify(configuration) } };
  }

  async prepareUpdate(
    { id, configuration: stored }: RowOf<Authenticator>,
    { configuration }: ValuesOf<Authenticator>,
  ): Promise<Prepared<Authenticator>> {
    if (!configuration) return {};
    return { columns: { configuration: JSON.stringify(this.sealed(id, configuration, stored)) } };
  }

  private sealed(
    id: number,
    given: object,
    stored: Partial<OidcConfiguration> = {},
  ): Partial<OidcConfiguration> {
    const { values, errors } = readFields(OidcConfiguration, { ...given });
    for (const key of Object.keys(given)) {
      if (!fieldsOf(OidcConfiguration).some(({ name }) => name === key)) {
        errors[key] = ['Unknown key.'];
      }
    }
    const { issuer, scopes = '', client_secret: secret = '' } = values;
    if (issuer && !isIssuer(issuer)) {
      errors.issuer ??= [
        'Enter an https URL without query. http is accepted for this machine only.',
      ];
    }
    if (!scopes.split(' ').includes('openid')) errors.scopes ??= ['openid is required.'];
    if (Object.keys(errors).length > 0) throw new Invalid({ configuration: errors });
    if (secret === ENCRYPTED) return { ...values, client_secret: stored.client_secret ?? '' };
    return secret === ''
      ? values
      : { ...values, client_secret: this.box.seal(secret, secretContext(id)) };
  }
}

/** True for an https URL; http is accepted for the loopback address, which no other machine can reach. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** Verifies that the fields of a map belong together. */
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

function assertMap(map: ValuesOf<AuthenticatorMap>): void {
  const errors: FieldErrors = {};
  const { map_type: type = '', trigger, claim = '', role = '' } = map;
  if (trigger !== 'always' && claim === '') errors.claim = ['The trigger needs a claim.'];
  if (trigger !== 'always' && map.value === '') errors.value = ['The trigger needs a value.'];
  for (const name of ['organization', 'team'] as const) {
    const isSet = typeof map[name] === 'number';
    if (type === name && !isSet) errors[name] = [`A map of type ${type} needs it.`];
    if (type !== name && isSet) errors[name] = [`A map of type ${type} has none.`];
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
