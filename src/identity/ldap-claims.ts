import { unescape } from 'node:querystring';
import {
  AndFilter,
  EqualityFilter,
  ExtensibleFilter,
  FilterParser,
  OrFilter,
  type Entry,
  type Filter,
} from 'ldapts';
import type { LdapConfiguration } from './authenticator-kinds.js';
import type { Claims } from './external-rights.js';

/** Matching rule of Active Directory that follows nested groups. */
const IN_CHAIN = '1.2.840.113556.1.4.1941';
const GUID_ATTRIBUTE = 'objectGUID';

const hexOf = (character: string): string =>
  `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** Returns the filter that finds a user; the username is escaped by RFC 4515. */
export const userFilter = (
  { user_filter: filter }: Pick<LdapConfiguration, 'user_filter'>,
  username: string,
): Filter =>
  FilterParser.parseString(
    filter.replaceAll('{username}', () => username.replace(/[\0()*\\]/g, hexOf)),
  );

/** Returns the DN of a user by a template; the username is escaped by RFC 4514. */
export const userDn = (template: string, username: string): string =>
  template.replaceAll('{username}', () => username.replace(/[\0-\x20"#+,;<=>\\\x7f]/g, hexOf));

/** Returns the DN below which all users are. */
export const searchBase = ({
  user_base: base,
  user_dn_template: template,
}: Pick<LdapConfiguration, 'user_base' | 'user_dn_template'>): string =>
  template === '' ? base : template.replace(/^(?:\\.|[^\\,])*,/s, '');

/**
 * Returns the filter of logins for any username. With a template of DNs, logins do not search: every
 * account matches.
 */
export const loginFilter = ({
  user_filter: filter,
  user_dn_template: template,
}: Pick<LdapConfiguration, 'user_filter' | 'user_dn_template'>): Filter =>
  FilterParser.parseString(
    template === '' ? filter.replaceAll('{username}', () => '*') : '(objectClass=*)',
  );

/**
 * Returns the filter for accounts by their subjects. The filter of logins must also match the
 * accounts.
 */
export function subjectsFilter(
  configuration: LdapConfiguration,
  subjects: readonly string[],
): Filter {
  const { id_attribute: attribute } = configuration;
  const filters = subjects.map((subject) =>
    isGuid(configuration)
      ? new EqualityFilter({ attribute, value: guidBytes(subject) })
      : new EqualityFilter({ attribute, value: subject }),
  );
  return new AndFilter({ filters: [loginFilter(configuration), new OrFilter({ filters })] });
}

/**
 * Returns the filter for the groups of a user; null if an attribute of the user contains the
 * groups.
 */
export function groupFilter(
  { group_kind: kind, username_attribute: name }: LdapConfiguration,
  entry: Entry,
): Filter | null {
  const { dn: value } = entry;
  if (kind === 'memberOf') return null;
  if (kind === 'nested') {
    return new ExtensibleFilter({ matchType: 'member', rule: IN_CHAIN, value });
  }
  if (kind !== 'memberUid') return new EqualityFilter({ attribute: kind, value });
  return new EqualityFilter({ attribute: kind, value: textsOf(entry, name)[0] ?? '' });
}

/** Returns the attributes of a user that a login reads. */
export const userAttributes = (configuration: LdapConfiguration): string[] => [
  configuration.username_attribute,
  configuration.first_name_attribute,
  configuration.last_name_attribute,
  configuration.email_attribute,
  ...(configuration.group_kind === 'memberOf' ? ['memberOf'] : []),
  ...claimNames(configuration),
  isGuid(configuration) ? GUID_ATTRIBUTE : configuration.id_attribute,
];

/** Attributes whose values are bytes. */
export const BINARY_ATTRIBUTES = [GUID_ATTRIBUTE];

/**
 * Returns the claims of a user: claims of OpenID Connect, the attributes of `claim_attributes`, and
 * the groups by name and by DN.
 *
 * @param groups DNs of the groups; null if an attribute of the user contains the groups
 */
export function claimsOf(
  configuration: LdapConfiguration,
  entry: Entry,
  groups: readonly string[] | null,
): Claims {
  const first = (name: string): string => textsOf(entry, name)[0] ?? '';
  const dns = groups ?? textsOf(entry, 'memberOf');
  const id = isGuid(configuration) ? guidOf(entry) : first(configuration.id_attribute);
  return {
    ...Object.fromEntries(claimNames(configuration).map((name) => [name, textsOf(entry, name)])),
    sub: id || entry.dn,
    preferred_username: first(configuration.username_attribute),
    given_name: first(configuration.first_name_attribute),
    family_name: first(configuration.last_name_attribute),
    email: first(configuration.email_attribute),
    dn: entry.dn,
    groups: dns.map(nameOfDn),
    group_dns: dns,
  };
}

/**
 * Returns true if the server returned only a part of the values of an attribute. Active Directory does
 * this for more than 1500 values. A `deny` map could match a missing group.
 */
export const isPartial = (entry: Entry): boolean =>
  Object.keys(entry).some((name) => name.includes(';range='));

const claimNames = ({ claim_attributes: names }: LdapConfiguration): string[] =>
  names.split(/[\s,]+/).filter((name) => name !== '');

const isGuid = ({ id_attribute: name }: LdapConfiguration): boolean =>
  name.toLowerCase() === GUID_ATTRIBUTE.toLowerCase();

/** Returns the values of an attribute. The server can return the name in another case. */
function valuesOf(entry: Entry, name: string): (string | Buffer)[] {
  const key = Object.keys(entry).find((known) => known.toLowerCase() === name.toLowerCase());
  return key === undefined ? [] : [entry[key] ?? []].flat();
}

const textsOf = (entry: Entry, name: string): string[] =>
  valuesOf(entry, name).filter((value) => typeof value === 'string');

/** Byte order of a GUID in Active Directory: the first three parts are little-endian. */
const GUID_ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

/** Returns the bytes of a GUID that {@link guidOf} returned. */
function guidBytes(guid: string): Buffer {
  const shown = Buffer.from(guid.replaceAll('-', ''), 'hex');
  const bytes = Buffer.alloc(GUID_ORDER.length);
  GUID_ORDER.forEach((position, index) => (bytes[position] = shown[index] ?? 0));
  return bytes;
}

function guidOf(entry: Entry): string {
  const [bytes] = valuesOf(entry, GUID_ATTRIBUTE);
  if (!Buffer.isBuffer(bytes) || bytes.length !== 16) return '';
  const hex = Buffer.from(GUID_ORDER.map((position) => bytes[position] ?? 0)).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns the value of the first attribute of a DN: `ops` for `cn=ops,ou=groups,dc=example`. */
export function nameOfDn(dn: string): string {
  const [, value = dn] = /^[^=,]+=((?:\\.|[^\\,+])*)/s.exec(dn) ?? [];
  const bytes = value.replaceAll('%', '%25').replace(/\\([0-9a-f]{2})/gi, '%$1');
  return unescape(bytes.replace(/\\(.)/gs, '$1'));
}
