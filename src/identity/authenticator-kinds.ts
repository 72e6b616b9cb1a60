import { createSecureContext } from 'node:tls';
import { FilterParser } from 'ldapts';
import { partsOf } from '../common/fields/text.js';
import { resultOr, type FieldErrors } from '../common/errors/errors.js';
import {
  Bool,
  Char,
  Choices,
  fieldsOf,
  Integer,
  SecretText,
  Text,
  type Field,
  type SchemaClass,
} from '../common/fields/field.js';
import { keysOf } from '../common/records.js';

const CLIENT_ID = {
  required: true,
  label: 'Client ID',
  help: 'Identifier of this installation at the provider.',
} as const;

/** Members of the `configuration` of an OpenID Connect provider. */
export class OidcConfiguration {
  @Char({ required: true, max: 1024, help: 'URL of the provider, without /.well-known.' })
  issuer!: string;

  @Char(CLIENT_ID)
  client_id!: string;

  @SecretText({ max: 1024, help: 'Empty for a public client.' })
  client_secret!: string;

  @Choices(
    [
      ['client_secret_basic', 'In the Authorization header'],
      ['client_secret_post', 'In the body'],
    ],
    { default: 'client_secret_basic', help: 'How the secret is sent to the token endpoint.' },
  )
  token_auth_method!: string;

  @Char({ default: 'openid profile email', help: 'Requested scopes; openid is required.' })
  scopes!: string;

  @Char({ default: 'preferred_username', help: 'Claim with the username of new users.' })
  username_claim!: string;

  @Bool({ default: true, help: 'Read the claims of the userinfo endpoint, too.' })
  userinfo!: boolean;
}

/** Members of the `configuration` of an LDAP directory. */
export class LdapConfiguration {
  @Text({
    required: true,
    max: 2048,
    control: 'lines',
    help: 'URLs of the servers, one in each line: ldaps://ldap.example.com. The first one that responds is used.',
  })
  servers!: string;

  @Bool({ label: 'StartTLS', help: 'Encrypt connections to ldap:// servers.' })
  start_tls!: boolean;

  @Text({
    max: 65_536,
    control: 'lines',
    label: 'CA certificates',
    help: 'PEM certificates of the authorities that are trusted for the servers. Empty: the authorities of the system.',
  })
  ca!: string;

  @Char({
    max: 1024,
    label: 'Bind DN',
    help: 'Account that searches for users and groups. Empty for an anonymous search.',
  })
  bind_dn!: string;

  @SecretText({ max: 1024 })
  bind_password!: string;

  @Char({ max: 1024, help: 'DN below which users are: ou=people,dc=example,dc=com.' })
  user_base!: string;

  @Choices(
    [
      ['sub', 'At any depth'],
      ['one', 'Directly below'],
    ],
    { default: 'sub', help: 'Depth of the search for users.' },
  )
  user_scope!: 'sub' | 'one';

  @Char({
    max: 2048,
    default: '(uid={username})',
    help: 'Filter that finds exactly one user. Active Directory: (sAMAccountName={username}).',
  })
  user_filter!: string;

  @Char({
    max: 1024,
    label: 'User DN template',
    help: 'In place of a search: uid={username},ou=people,dc=example,dc=com.',
  })
  user_dn_template!: string;

  @Char({
    default: 'entryUUID',
    label: 'ID attribute',
    suggestions: () => ['entryUUID', 'objectGUID'],
    help: 'Attribute that permanently identifies a user. Active Directory: objectGUID.',
  })
  id_attribute!: string;

  @Char({ default: 'uid', help: 'Username of new users. Active Directory: sAMAccountName.' })
  username_attribute!: string;

  @Char({ default: 'givenName' })
  first_name_attribute!: string;

  @Char({ default: 'sn' })
  last_name_attribute!: string;

  @Char({ default: 'mail' })
  email_attribute!: string;

  @Char({ help: 'Further attributes that maps can use as claims: department title.' })
  claim_attributes!: string;

  @Choices(
    [
      ['memberOf', 'memberOf of the user'],
      ['member', 'member of groups: DNs of users'],
      ['uniqueMember', 'uniqueMember of groups: DNs of users'],
      ['memberUid', 'memberUid of POSIX groups: usernames'],
      ['nested', 'Nested groups of Active Directory'],
    ],
    { default: 'memberOf', help: 'Attribute with the groups of a user.' },
  )
  group_kind!: 'memberOf' | 'member' | 'uniqueMember' | 'memberUid' | 'nested';

  @Char({ max: 1024, help: 'DN below which groups are. Not used with memberOf.' })
  group_base!: string;

  @Integer({
    default: 0,
    min: 0,
    max: 10_080,
    label: 'Synchronization interval',
    help: 'Minutes between synchronizations, which disable users who are no longer in the directory. 0: no synchronization.',
  })
  sync_minutes!: number;
}

/** Members of the `configuration` of GitHub. */
export class GithubConfiguration {
  @Char({
    max: 1024,
    default: 'https://github.com',
    label: 'Base URL',
    help: 'https://github.com, or the address of a GitHub Enterprise Server.',
  })
  base_url!: string;

  @Char(CLIENT_ID)
  client_id!: string;

  @SecretText({ required: true, max: 1024 })
  client_secret!: string;

  @Char({
    default: 'read:user user:email read:org',
    help: 'Requested scopes; read:org for organizations and teams.',
  })
  scopes!: string;
}

/** Members of the `configuration` of a SAML identity provider. */
export class SamlConfiguration {
  @Char({
    required: true,
    max: 1024,
    label: 'Single sign-on URL',
    help: 'URL of the provider for requests with the redirect binding.',
  })
  entry_point!: string;

  @Char({ required: true, max: 1024, label: 'Entity ID', help: 'Entity ID of the provider.' })
  idp_entity_id!: string;

  @Text({
    required: true,
    max: 65_536,
    control: 'lines',
    help: 'PEM certificates that the provider signs assertions with.',
  })
  certificates!: string;

  @Char({ help: 'Attribute that permanently identifies a user. Empty: the NameID.' })
  subject_attribute!: string;

  @Char({ default: 'uid', help: 'Username of new users.' })
  username_attribute!: string;

  @Char({ default: 'givenName' })
  first_name_attribute!: string;

  @Char({ default: 'sn' })
  last_name_attribute!: string;

  @Char({ default: 'mail' })
  email_attribute!: string;
}

interface Kind<T extends object> {
  label: string;
  schema: SchemaClass<T>;
  /** Returns the errors that the validation of single fields does not find. */
  faults: (values: Partial<T>) => FieldErrors;
  /** Members that determine which user a subject is: the `sub` of OpenID Connect is unique for its issuer only. */
  identifying: readonly string[];
  example: Partial<T>;
}

const kind = <T extends object>(declared: Kind<T>): Kind<T> => declared;

/**
 * Kinds of authenticators: the members of their configuration, and the rules between the members.
 */
export const AUTHENTICATOR_KINDS = {
  oidc: kind({
    label: 'OpenID Connect',
    schema: OidcConfiguration,
    faults: ({ issuer, scopes = '' }) => ({
      ...(issuer && !isServerUrl(issuer)
        ? { issuer: [serverUrlError('an https URL without a query')] }
        : {}),
      ...(scopes.split(' ').includes('openid') ? {} : { scopes: ['openid is required.'] }),
    }),
    identifying: ['issuer'],
    example: {
      issuer: 'https://login.example.com/realms/main',
      client_id: 'automation-controller',
      client_secret: '',
    },
  }),
  ldap: kind({
    label: 'LDAP or Active Directory',
    schema: LdapConfiguration,
    faults: ldapFaults,
    identifying: [],
    example: {
      servers: 'ldaps://ldap.example.com',
      bind_dn: 'cn=controller,dc=example,dc=com',
      bind_password: '',
      user_base: 'ou=people,dc=example,dc=com',
    },
  }),
  github: kind({
    label: 'GitHub',
    schema: GithubConfiguration,
    faults: ({ base_url: url }) =>
      url !== undefined && (!isServerUrl(url) || new URL(url).pathname !== '/')
        ? { base_url: [serverUrlError('an https URL without a path and query')] }
        : {},
    identifying: ['base_url'],
    example: {
      base_url: 'https://github.com',
      client_id: 'Iv1.0123456789abcdef',
      client_secret: '',
    },
  }),
  saml: kind({
    label: 'SAML',
    schema: SamlConfiguration,
    faults: ({ entry_point: url, certificates: text }) => ({
      ...(url && !isServerUrl(url.split('?')[0] ?? '')
        ? { entry_point: [serverUrlError('an https URL')] }
        : {}),
      ...(text && !isCertificate(text)
        ? { certificates: ['Enter certificates in PEM format.'] }
        : {}),
    }),
    identifying: ['idp_entity_id', 'subject_attribute'],
    example: {
      entry_point: 'https://login.example.com/saml/sso',
      idp_entity_id: 'https://login.example.com/saml/metadata',
      certificates: '',
    },
  }),
} as const;

export type AuthenticatorKind = keyof typeof AUTHENTICATOR_KINDS;

export type Configurations = {
  [Name in AuthenticatorKind]: (typeof AUTHENTICATOR_KINDS)[Name] extends Kind<infer T> ? T : never;
};

/** Returns the kind of an authenticator by its name; `oidc` for an unknown name. */
export const authenticatorKind = (name: unknown): Kind<object> =>
  AUTHENTICATOR_KINDS[keysOf(AUTHENTICATOR_KINDS).find((kindName) => kindName === name) ?? 'oidc'];

/** Returns the member of a configuration that is a secret; undefined if no member is a secret. */
export const secretOf = (name: unknown): Field | undefined =>
  fieldsOf(authenticatorKind(name).schema).find(({ kind: type }) => type === 'secret');

const serverUrlError = (expected: string): string =>
  `Enter ${expected}. http is accepted for this machine only.`;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns true for an https URL, and for an http URL of the loopback address, which is local. */
function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

const PLACEHOLDER = '{username}';

function ldapFaults(values: Partial<LdapConfiguration>): FieldErrors {
  const errors: FieldErrors = {};
  const { servers = '', start_tls: startTls, ca, user_filter: filter = '' } = values;
  const { user_dn_template: template = '', group_kind: groups, group_base: groupBase } = values;
  if (!partsOf(servers, '\n').every((server) => isDirectoryUrl(server, startTls === true))) {
    errors.servers = [
      'Enter ldaps:// URLs, or ldap:// URLs with StartTLS, of a host and a port only. Plain ldap:// is accepted for this machine only.',
    ];
  }
  if (ca && !isCertificate(ca)) errors.ca = ['Enter certificates in PEM format.'];
  if (template === '') {
    if (!values.user_base) errors.user_base = ['Enter a base, or a DN template.'];
    if (!filter.includes(PLACEHOLDER) || !isFilter(filter)) {
      errors.user_filter = [`Enter an LDAP filter with ${PLACEHOLDER}.`];
    }
  } else if (!/^[a-z][\w-]*=.*\{username\}/i.test(template)) {
    errors.user_dn_template = [`Enter a DN with ${PLACEHOLDER}.`];
  }
  if (groups !== 'memberOf' && !groupBase) {
    errors.group_base = ['Groups of this kind need a base.'];
  }
  // Servers accept an empty password as an anonymous login.
  if (values.bind_dn && !values.bind_password) errors.bind_password = ['The DN needs a password.'];
  if (!values.bind_dn && values.bind_password) errors.bind_dn = ['The password needs a DN.'];
  return errors;
}

const isCertificate = (text: string): boolean =>
  text.includes('-----BEGIN CERTIFICATE-----') &&
  resultOr(() => createSecureContext({ ca: text }), null) !== null;

function isDirectoryUrl(text: string, startTls: boolean): boolean {
  // The URL parser does not normalize ldap URLs, so their host is parsed as part of an http URL.
  const [, scheme = '', host = ''] = /^(ldaps?):\/\/([^/@?#\s]+)\/?$/.exec(text) ?? [];
  if (!URL.canParse(`http://${host}`)) return false;
  return scheme === 'ldaps' || startTls || LOOPBACK.test(new URL(`http://${host}`).hostname);
}

const isFilter = (text: string): boolean =>
  resultOr(() => FilterParser.parseString(text), null) !== null;
