import { fieldsOf } from '../common/fields/field.js';
import { AUTHENTICATOR_KINDS, LdapConfiguration } from './authenticator-kinds.js';
import { claimsOf, groupFilter, isPartial, nameOfDn, userDn, userFilter } from './ldap-claims.js';

const configuration = (changes: Partial<LdapConfiguration> = {}): LdapConfiguration => ({
  ...(Object.fromEntries(
    fieldsOf(LdapConfiguration).map((field) => [field.name, field.default]),
  ) as unknown as LdapConfiguration),
  ...changes,
});

describe('userFilter', () => {
  it.each([
    ['ada', '(uid=ada)'],
    ['*', '(uid=\\2a)'],
    ['*)(uid=*', '(uid=\\2a\\29\\28uid=\\2a)'],
    ['a\\b\0', '(uid=a\\5cb\\00)'],
    ['$&', '(uid=$&)'],
    ['łukasz', '(uid=łukasz)'],
  ])('escapes %p', (username, expected) => {
    expect(String(userFilter(configuration(), username))).toBe(expected);
  });
});

describe('userDn', () => {
  it.each([
    ['ada', 'uid=ada,dc=x'],
    ['a,ou=admins', 'uid=a\\2cou\\3dadmins,dc=x'],
    [' #"+;<>\\', 'uid=\\20\\23\\22\\2b\\3b\\3c\\3e\\5c,dc=x'],
  ])('escapes %p', (username, expected) => {
    expect(userDn('uid={username},dc=x', username)).toBe(expected);
  });
});

describe('groupFilter', () => {
  const entry = { dn: 'uid=a\\2cb,dc=x', uid: 'a,b' };

  it.each([
    ['member', '(member=uid=a\\5c2cb,dc=x)'],
    ['uniqueMember', '(uniqueMember=uid=a\\5c2cb,dc=x)'],
    ['memberUid', '(memberUid=a,b)'],
    ['nested', '(member:1.2.840.113556.1.4.1941:=uid=a\\5c2cb,dc=x)'],
  ] as const)('matches groups of the type %s', (group_kind, expected) => {
    expect(String(groupFilter(configuration({ group_kind }), entry))).toBe(expected);
  });

  it('is not needed if the groups are an attribute of the user', () => {
    expect(groupFilter(configuration(), entry)).toBeNull();
  });
});

describe('claimsOf', () => {
  it('reads attributes in any letter case, and the names of groups', () => {
    const claims = claimsOf(
      configuration({ claim_attributes: 'department, title' }),
      {
        dn: 'uid=ada,dc=x',
        entryuuid: 'f2a1',
        UID: 'ada',
        sn: 'L',
        memberof: ['cn=Ops\\, EU,dc=x', 'CN=R\\C3\\A9seau+ou=y,dc=x'],
        department: ['a', 'b'],
      },
      null,
    );
    expect(claims).toEqual({
      sub: 'f2a1',
      preferred_username: 'ada',
      given_name: '',
      family_name: 'L',
      email: '',
      dn: 'uid=ada,dc=x',
      groups: ['Ops, EU', 'Réseau'],
      group_dns: ['cn=Ops\\, EU,dc=x', 'CN=R\\C3\\A9seau+ou=y,dc=x'],
      department: ['a', 'b'],
      title: [],
    });
  });

  it('formats an objectGUID as Active Directory does, and falls back to the DN', () => {
    const objectGUID = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
    const guid = configuration({ id_attribute: 'objectguid' });
    expect(claimsOf(guid, { dn: 'cn=a', objectGUID }, [])).toMatchObject({
      sub: '33221100-5544-7766-8899-aabbccddeeff',
    });
    expect(claimsOf(guid, { dn: 'cn=a' }, [])).toMatchObject({ sub: 'cn=a' });
  });

  it('does not replace standard claims by additional attributes of the same name', () => {
    const changed = configuration({ claim_attributes: 'sub groups' });
    const entry = { dn: 'cn=a', entryUUID: '1', sub: '2', groups: 'admins' };
    expect(claimsOf(changed, entry, [])).toMatchObject({ sub: '1', groups: [] });
  });
});

it('recognizes attributes with options in their names', () => {
  expect(isPartial({ dn: 'cn=a', 'memberOf;range=0-1499': ['cn=b'] })).toBe(true);
  expect(isPartial({ dn: 'cn=a', memberOf: ['cn=b'] })).toBe(false);
});

it.each([
  ['cn=ops,dc=x', 'ops'],
  ['cn=100%,dc=x', '100%'],
  ['no DN', 'no DN'],
])('reads the group name of %p', (dn, name) => {
  expect(nameOfDn(dn)).toBe(name);
});

describe('the configuration of a directory', () => {
  const good = { servers: 'ldaps://ldap.example.com', user_base: 'dc=x' };

  it.each([
    ['plain LDAP', { servers: 'ldap://ldap.example.com' }, 'servers'],
    ['another scheme', { servers: 'https://ldap.example.com' }, 'servers'],
    ['a path', { servers: 'ldaps://ldap.example.com/dc=x' }, 'servers'],
    ['a user in the URL', { servers: 'ldaps://a@ldap.example.com' }, 'servers'],
    ['an invalid port', { servers: 'ldaps://ldap.example.com:x' }, 'servers'],
    ['an invalid certificate', { ca: 'x' }, 'ca'],
    ['a filter without username', { user_filter: '(uid=a)' }, 'user_filter'],
    ['a broken filter', { user_filter: '(uid={username}' }, 'user_filter'],
    ['a template that is not a DN', { user_dn_template: '{username}' }, 'user_dn_template'],
    ['neither base nor template', { user_base: '' }, 'user_base'],
    ['groups without base', { group_kind: 'member' as const }, 'group_base'],
    ['a DN without password', { bind_dn: 'cn=a' }, 'bind_password'],
    ['a password without DN', { bind_password: 'a' }, 'bind_dn'],
  ])('is refused with %s', (_name, changes, key) => {
    const faults = AUTHENTICATOR_KINDS.ldap.faults(configuration({ ...good, ...changes }));
    expect(Object.keys(faults)).toEqual([key]);
  });

  it.each([
    ['LDAPS', {}],
    ['StartTLS', { servers: 'ldap://ldap.example.com:389', start_tls: true }],
    ['plain LDAP of this machine', { servers: 'ldap://127.0.0.1:3389/' }],
    ['two servers', { servers: 'ldaps://a.example.com\r\nldaps://[2001:db8::1]:636' }],
  ])('is accepted with %s', (_name, changes) => {
    expect(AUTHENTICATOR_KINDS.ldap.faults(configuration({ ...good, ...changes }))).toEqual({});
  });
});
