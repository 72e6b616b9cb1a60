import { isRecord, textMember } from '../common/records.js';
import type { AuthenticatorKind } from './authenticator-kinds.js';
import {
  byGroups,
  byNames,
  membershipMaps,
  socialMaps,
  systemMap,
  type ImportedMap,
} from './imported-maps.js';
import { ReferenceSettings, textList } from './reference-settings.js';

/** Authenticator in the settings of the reference product. */
export interface ImportedLogin {
  name: string;
  kind: AuthenticatorKind;
  configuration: Record<string, unknown>;
  /** Name of the secret that must be entered again; null if none is missing. */
  missingSecret: string | null;
  maps: ImportedMap[];
}

export interface ImportedLogins {
  logins: ImportedLogin[];
  /** Parts that cannot be imported: sentences or names of settings. */
  notes: string[];
}

/** Placeholder for a required secret that is not known. */
const PLACEHOLDER = 'enter the secret';

/** Reads the authenticators and maps from the settings of the reference product. */
export function importedLogins(values: Readonly<Record<string, unknown>>): ImportedLogins {
  const settings = new ReferenceSettings(values);
  const notes: string[] = [];
  const logins = [
    ...oidc(settings, notes),
    ...google(settings, notes),
    ...['', '_1', '_2', '_3', '_4', '_5'].flatMap((suffix) => ldap(settings, notes, suffix)),
    ...saml(settings, notes),
    ...github(settings, notes),
  ];
  notes.push(...settings.unread().map((name) => `The setting ${name}`));
  return { logins, notes };
}

const missingName = (name: string, secret: string): string | null => (secret === '' ? name : null);

function oidc(settings: ReferenceSettings, notes: string[]): ImportedLogin[] {
  const clientId = settings.text('SOCIAL_AUTH_OIDC_KEY');
  const issuer = settings.text('SOCIAL_AUTH_OIDC_OIDC_ENDPOINT');
  const secret = settings.secret('SOCIAL_AUTH_OIDC_SECRET');
  settings.ignore(/^SOCIAL_AUTH_OIDC_VERIFY_SSL$/);
  if (clientId === '' || issuer === '') return [];
  return [
    {
      name: 'OIDC',
      kind: 'oidc',
      configuration: {
        issuer: issuer.replace(/\/\.well-known\/openid-configuration$/, ''),
        client_id: clientId,
        client_secret: secret,
      },
      missingSecret: missingName('client_secret', secret),
      maps: socialMaps(settings, 'OIDC', byNames('preferred_username', notes)),
    },
  ];
}

function google(settings: ReferenceSettings, notes: string[]): ImportedLogin[] {
  const clientId = settings.text('SOCIAL_AUTH_GOOGLE_OAUTH2_KEY');
  const secret = settings.secret('SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET');
  if (clientId === '') return [];
  const domains = textList(settings.value('SOCIAL_AUTH_GOOGLE_OAUTH2_WHITELISTED_DOMAINS'));
  if (domains.length === 0) {
    notes.push(
      'Google: no domain was required. Add an allow map, or every Google account can log in',
    );
  }
  return [
    {
      name: 'Google',
      kind: 'oidc',
      configuration: {
        issuer: 'https://accounts.google.com',
        client_id: clientId,
        client_secret: secret,
        username_claim: 'email',
      },
      missingSecret: missingName('client_secret', secret),
      maps: [
        ...systemMap('allow', 'hd', domains),
        ...socialMaps(settings, 'GOOGLE_OAUTH2', byNames('email', notes)),
      ],
    },
  ];
}

function github(settings: ReferenceSettings, notes: string[]): ImportedLogin[] {
  const backends = ['', '_ORG', '_TEAM', '_ENTERPRISE', '_ENTERPRISE_ORG', '_ENTERPRISE_TEAM'];
  return backends.flatMap((suffix): ImportedLogin[] => {
    const prefix = `SOCIAL_AUTH_GITHUB${suffix}`;
    const clientId = settings.text(`${prefix}_KEY`);
    const secret = settings.secret(`${prefix}_SECRET`);
    const organization = settings.text(`${prefix}_NAME`);
    const team = settings.text(`${prefix}_ID`);
    const server = settings.text(`${prefix}_URL`);
    settings.ignore(new RegExp(`^${prefix}_API_URL$`));
    if (clientId === '') return [];
    const name = `GitHub${suffix.replaceAll('_', ' ').toLowerCase()}`;
    if (organization === '') {
      const reason =
        team === '' ? 'everyone could log in' : `the team ${team} is known by its number`;
      notes.push(`${name}: ${reason}. Add an allow map with an organization or a team`);
    }
    return [
      {
        name,
        kind: 'github',
        configuration: {
          client_id: clientId,
          client_secret: secret || PLACEHOLDER,
          base_url: URL.canParse(server) ? new URL(server).origin : 'https://github.com',
        },
        missingSecret: missingName('client_secret', secret),
        maps: [
          ...systemMap('allow', 'organizations', textList(organization)),
          ...socialMaps(settings, `GITHUB${suffix}`, byNames('preferred_username', notes)),
        ],
      },
    ];
  });
}

function saml(settings: ReferenceSettings, notes: string[]): ImportedLogin[] {
  const providers = Object.entries(settings.record('SOCIAL_AUTH_SAML_ENABLED_IDPS'));
  settings.ignore(
    /^SOCIAL_AUTH_SAML_(?:SP_|ORG_INFO|TECHNICAL_CONTACT|SUPPORT_CONTACT|SECURITY_CONFIG)/,
  );
  if (providers.length === 0) return [];
  notes.push('SAML: give the providers the new metadata, whose entity ID and callback URL differ');
  const flags = settings.record('SOCIAL_AUTH_SAML_USER_FLAGS_BY_ATTR');
  const flagMaps = (['superuser', 'system_auditor'] as const).flatMap((flag) => {
    const claim = flags[`is_${flag}_attr`];
    const type = flag === 'superuser' ? 'superuser' : 'auditor';
    if (flags[`is_${flag}_role`] !== undefined) notes.push(`SAML: the role that makes a ${type}`);
    return typeof claim === 'string'
      ? systemMap(type, claim, textList(flags[`is_${flag}_value`]))
      : [];
  });
  return providers.flatMap(([key, provider]) => {
    if (!isRecord(provider)) return [];
    const attribute = (name: string): string => textMember(provider, name);
    const username = attribute('attr_username') || 'uid';
    const subject = attribute('attr_user_permanent_id');
    return [
      {
        name: `SAML ${key}`,
        kind: 'saml' as const,
        configuration: {
          entry_point: attribute('url'),
          idp_entity_id: attribute('entity_id'),
          certificates: pem(attribute('x509cert')),
          subject_attribute: subject === 'name_id' ? '' : subject,
          username_attribute: username,
          first_name_attribute: attribute('attr_first_name') || 'givenName',
          last_name_attribute: attribute('attr_last_name') || 'sn',
          email_attribute: attribute('attr_email') || 'mail',
        },
        missingSecret: null,
        maps: [...flagMaps, ...socialMaps(settings, 'SAML', byNames(username, notes))],
      },
    ];
  });
}

/**
 * Returns a PEM certificate. The reference product omits the BEGIN and END lines and the line
 * breaks.
 */
function pem(text: string): string {
  if (text.includes('-----BEGIN')) return text;
  const lines = text.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n');
}

const GROUP_KINDS: Readonly<Record<string, string>> = {
  GroupOfNamesType: 'member',
  GroupOfUniqueNamesType: 'uniqueMember',
  PosixGroupType: 'memberUid',
  PosixUIDGroupType: 'memberUid',
  ActiveDirectoryGroupType: 'member',
  NestedActiveDirectoryGroupType: 'nested',
};

function ldap(settings: ReferenceSettings, notes: string[], suffix: string): ImportedLogin[] {
  const setting = (name: string): string => `AUTH_LDAP${suffix}_${name}`;
  const servers = settings.text(setting('SERVER_URI'));
  if (servers === '') {
    settings.ignore(new RegExp(`^AUTH_LDAP${suffix}_(?!\\d_)`));
    return [];
  }
  const name = `LDAP${suffix.replace('_', ' ')}`;
  const note = (text: string): void => void notes.push(`${name}: ${text}`);
  const secret = settings.secret(setting('BIND_PASSWORD'));
  const bindDn = settings.text(setting('BIND_DN'));
  const groups = groupsOf(settings, setting, note);
  const urls = servers.split(/[\s,]+/);
  const isPlain = urls.some((url) => url.startsWith('ldap://'));
  const startsTls = settings.value(setting('START_TLS')) === true;
  if (isPlain && !startsTls) note('StartTLS is on now, because passwords are not sent unencrypted');
  settings.ignore(new RegExp(`^${setting('CONNECTION_OPTIONS')}$`));
  const flags = settings.record(setting('USER_FLAGS_BY_GROUP'));
  const claim = 'group_dns';
  return [
    {
      name,
      kind: 'ldap',
      configuration: {
        servers: urls.join('\n'),
        ...(isPlain ? { start_tls: true } : {}),
        bind_dn: bindDn,
        bind_password: secret,
        ...usersOf(settings, setting, note),
        ...groups,
      },
      missingSecret: bindDn === '' ? null : missingName('bind_password', secret),
      maps: [
        ...systemMap('allow', claim, textList(settings.value(setting('REQUIRE_GROUP')))),
        ...systemMap('deny', claim, textList(settings.value(setting('DENY_GROUP')))),
        ...systemMap('superuser', claim, textList(flags.is_superuser)),
        ...systemMap('auditor', claim, textList(flags.is_system_auditor)),
        ...membershipMaps(
          settings.value(setting('ORGANIZATION_MAP')),
          settings.value(setting('TEAM_MAP')),
          byGroups,
        ),
      ],
    },
  ];
}

type Setting = (name: string) => string;
type Note = (text: string) => void;

/** Returns the members of an LDAP configuration for users. */
function usersOf(settings: ReferenceSettings, setting: Setting, note: Note): object {
  const template = settings.text(setting('USER_DN_TEMPLATE')).replaceAll('%(user)s', '{username}');
  const [base = '', scope, filter] = searchOf(
    settings.value(setting('USER_SEARCH')),
    note,
    'users',
  );
  const attributes = settings.record(setting('USER_ATTR_MAP'));
  const userFilter = filter ?? `(${template.replace(/=.*$/s, '') || 'uid'}=%(user)s)`;
  const [, username = 'uid'] = /\(([\w-]+)=%\(user\)s\)/.exec(userFilter) ?? [];
  const text = (key: string, fallback: string): string => textList(attributes[key])[0] ?? fallback;
  return {
    user_base: base,
    user_scope: scope === 'SCOPE_ONELEVEL' ? 'one' : 'sub',
    user_filter: userFilter.replaceAll('%(user)s', '{username}'),
    user_dn_template: template,
    username_attribute: username,
    id_attribute: /^(?:sAMAccountName|userPrincipalName)$/i.test(username)
      ? 'objectGUID'
      : 'entryUUID',
    first_name_attribute: text('first_name', 'givenName'),
    last_name_attribute: text('last_name', 'sn'),
    email_attribute: text('email', 'mail'),
  };
}

/** Returns the members of an LDAP configuration for groups. */
function groupsOf(settings: ReferenceSettings, setting: Setting, note: Note): object {
  const [base = ''] = searchOf(settings.value(setting('GROUP_SEARCH')), note, 'groups');
  const type = settings.text(setting('GROUP_TYPE'));
  const { member_attr: member } = settings.record(setting('GROUP_TYPE_PARAMS'));
  const known = type === 'MemberDNGroupType' ? textList(member)[0] : GROUP_KINDS[type];
  const isKnown =
    known !== undefined && ['member', 'uniqueMember', 'memberUid', 'nested'].includes(known);
  if (base === '') return { group_kind: 'memberOf' };
  if (!isKnown) note(`groups of the type ${type}, which are read as member of groups`);
  return { group_kind: isKnown ? known : 'member', group_base: base };
}

/** Returns base, scope and filter of the first search. */
function searchOf(value: unknown, note: Note, objects: string): (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  const searches: unknown[] = Array.isArray(value[0]) ? value : [value];
  if (searches.length > 1) note(`searches for ${objects} but the first one`);
  return [searches[0]].flat().map((part) => (typeof part === 'string' ? part : undefined));
}
