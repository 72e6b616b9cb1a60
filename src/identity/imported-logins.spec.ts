import { patternOf } from './imported-maps.js';
import { importedLogins } from './imported-logins.js';

const ENCRYPTED = '$encrypted$';
/** Defaults of the reference product. */
const DEFAULTS = {
  AUTH_LDAP_SERVER_URI: '',
  AUTH_LDAP_CONNECTION_OPTIONS: { OPT_REFERRALS: 0, OPT_NETWORK_TIMEOUT: 30 },
  AUTH_LDAP_GROUP_TYPE: 'MemberDNGroupType',
  AUTH_LDAP_GROUP_TYPE_PARAMS: { member_attr: 'member', name_attr: 'cn' },
  AUTH_LDAP_1_SERVER_URI: '',
  AUTH_LDAP_1_GROUP_TYPE: 'MemberDNGroupType',
  SAML_AUTO_CREATE_OBJECTS: true,
  SOCIAL_AUTH_SAML_SECURITY_CONFIG: { requestedAuthnContext: false },
  SOCIAL_AUTH_SAML_CALLBACK_URL: 'https://towerhost/sso/complete/saml/',
  SOCIAL_AUTH_OIDC_VERIFY_SSL: true,
  BASE_URL: 'https://towerhost',
};
const read = (values: object) => importedLogins({ ...DEFAULTS, ...values });

it('the import finds nothing in the defaults of the reference product', () => {
  expect(read({})).toEqual({ logins: [], notes: [] });
});

it('the import names unknown settings', () => {
  const { notes } = read({
    SOCIAL_AUTH_AZUREAD_OAUTH2_KEY: 'key',
    RADIUS_SERVER: 'radius.example.com',
    SOCIAL_AUTH_SAML_TEAM_ATTR: { saml_attr: 'team' },
  });
  expect(notes).toEqual([
    'The setting SOCIAL_AUTH_AZUREAD_OAUTH2_KEY',
    'The setting RADIUS_SERVER',
    'The setting SOCIAL_AUTH_SAML_TEAM_ATTR',
  ]);
});

it('the import reads OpenID Connect settings with the maps of all backends', () => {
  const { logins, notes } = read({
    SOCIAL_AUTH_OIDC_KEY: 'controller',
    SOCIAL_AUTH_OIDC_SECRET: ENCRYPTED,
    SOCIAL_AUTH_OIDC_OIDC_ENDPOINT: 'https://login.example.com/realms/main',
    SOCIAL_AUTH_ORGANIZATION_MAP: {
      Ops: {
        admins: ['ada', 'bob@example.com'],
        users: '/^[^@]+@example[.]com$/',
        auditors: '/.*@audit\\.example\\.com$/',
        remove_admins: false,
      },
    },
    SOCIAL_AUTH_OIDC_TEAM_MAP: { Night: { organization: 'Ops', users: true, remove: false } },
  });
  expect(notes).toEqual(['Ops, users: the regular expression /^[^@]+@example[.]com$/']);
  const organization = { map_type: 'organization', organization: 'Ops' };
  expect(logins).toEqual([
    {
      name: 'OIDC',
      kind: 'oidc',
      configuration: {
        issuer: 'https://login.example.com/realms/main',
        client_id: 'controller',
        client_secret: '',
      },
      missingSecret: 'client_secret',
      maps: [
        {
          ...{ name: 'Ops: admins by email', ...organization, role: 'admin_role' },
          ...{ trigger: 'equals', claim: 'email', value: 'bob@example.com', revoke: false },
        },
        {
          ...{ name: 'Ops: admins by username', ...organization, role: 'admin_role' },
          ...{ trigger: 'equals', claim: 'preferred_username', value: 'ada', revoke: false },
        },
        {
          ...{ name: 'Ops: auditors by email *@audit.example.com', ...organization },
          ...{ trigger: 'matches', claim: 'email', value: '*@audit.example.com' },
          ...{ role: 'auditor_role', revoke: true },
        },
        {
          ...{ name: 'Ops, team Night: users always', map_type: 'team', role: 'member_role' },
          ...{ organization: 'Ops', team: 'Night', trigger: 'always', claim: '', value: '' },
          revoke: false,
        },
      ],
    },
  ]);
});

it('the import reads directory settings with their groups', () => {
  const dn = (cn: string): string => `cn=${cn},ou=groups,dc=example,dc=com`;
  const { logins, notes } = read({
    AUTH_LDAP_1_SERVER_URI: 'ldap://a.example.com, ldap://b.example.com',
    AUTH_LDAP_1_BIND_DN: 'cn=svc,dc=example,dc=com',
    AUTH_LDAP_1_BIND_PASSWORD: 'secret',
    AUTH_LDAP_1_USER_SEARCH: ['dc=example,dc=com', 'SCOPE_SUBTREE', '(sAMAccountName=%(user)s)'],
    AUTH_LDAP_1_USER_ATTR_MAP: { email: 'userPrincipalName' },
    AUTH_LDAP_1_GROUP_SEARCH: [
      'ou=groups,dc=example,dc=com',
      'SCOPE_SUBTREE',
      '(objectClass=group)',
    ],
    AUTH_LDAP_1_GROUP_TYPE: 'NestedActiveDirectoryGroupType',
    AUTH_LDAP_1_REQUIRE_GROUP: dn('users'),
    AUTH_LDAP_1_USER_FLAGS_BY_GROUP: { is_superuser: [dn('root'), dn('wheel')] },
    AUTH_LDAP_1_ORGANIZATION_MAP: { Ops: { users: true, admins: dn('ops') } },
  });
  expect(notes).toEqual(['LDAP 1: StartTLS is on now, because passwords are not sent unencrypted']);
  expect(logins[0]).toMatchObject({
    name: 'LDAP 1',
    configuration: {
      servers: 'ldap://a.example.com\nldap://b.example.com',
      start_tls: true,
      bind_password: 'secret',
      user_base: 'dc=example,dc=com',
      user_filter: '(sAMAccountName={username})',
      username_attribute: 'sAMAccountName',
      id_attribute: 'objectGUID',
      email_attribute: 'userPrincipalName',
      first_name_attribute: 'givenName',
      group_kind: 'nested',
      group_base: 'ou=groups,dc=example,dc=com',
    },
    missingSecret: null,
  });
  expect(logins[0]?.maps).toMatchObject([
    { map_type: 'allow', trigger: 'equals', claim: 'group_dns', value: dn('users') },
    { map_type: 'superuser', trigger: 'in', value: `${dn('root')}\n${dn('wheel')}` },
    { map_type: 'organization', trigger: 'equals', value: dn('ops'), role: 'admin_role' },
    { map_type: 'organization', trigger: 'always', role: 'member_role' },
  ]);
});

it('the import reads SAML and GitHub settings', () => {
  const { logins } = read({
    SOCIAL_AUTH_SAML_ENABLED_IDPS: {
      main: {
        ...{ entity_id: 'https://idp.example.com', url: 'https://idp.example.com/sso' },
        ...{
          x509cert: 'QUJD'.repeat(20),
          attr_username: 'login',
          attr_user_permanent_id: 'name_id',
        },
      },
    },
    SOCIAL_AUTH_SAML_USER_FLAGS_BY_ATTR: { is_superuser_attr: 'admin', is_superuser_value: 'yes' },
    SOCIAL_AUTH_GITHUB_ORG_KEY: 'id',
    SOCIAL_AUTH_GITHUB_ORG_SECRET: ENCRYPTED,
    SOCIAL_AUTH_GITHUB_ORG_NAME: 'acme',
  });
  expect(logins).toMatchObject([
    {
      name: 'SAML main',
      configuration: {
        entry_point: 'https://idp.example.com/sso',
        idp_entity_id: 'https://idp.example.com',
        certificates: expect.stringMatching(
          /^-----BEGIN CERTIFICATE-----\n[QUJD]{64}\n[QUJD]{16}\n-/,
        ),
        subject_attribute: '',
        username_attribute: 'login',
      },
      maps: [{ map_type: 'superuser', claim: 'admin', value: 'yes' }],
    },
    {
      name: 'GitHub org',
      missingSecret: 'client_secret',
      maps: [{ map_type: 'allow', claim: 'organizations', value: 'acme' }],
    },
  ]);
});

it.each([
  ['/^.*@example\\.com$/', '*@example.com'],
  ['/ada/', 'ada*'],
  ['/^ada.*$/', 'ada*'],
  ['/a+b/', null],
  ['/ada/i', null],
  ['/a.b$/', null],
  ['/a\\d$/', null],
])('the import converts the regular expression %s to the pattern %s', (source, pattern) => {
  expect(patternOf(source)).toBe(pattern);
});
