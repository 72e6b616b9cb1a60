import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { importLogins } from '../../src/cli/import-logins.js';
import { LoginImport } from '../../src/identity/login-import.service.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Settings of the reference product, with a secret that its response masks. */
const SETTINGS = {
  SOCIAL_AUTH_OIDC_KEY: 'controller',
  SOCIAL_AUTH_OIDC_SECRET: '$encrypted$',
  SOCIAL_AUTH_OIDC_OIDC_ENDPOINT: 'https://login.example.com',
  SOCIAL_AUTH_OIDC_ORGANIZATION_MAP: { Home: { admins: ['ada'] }, Nowhere: { users: true } },
  SOCIAL_AUTH_OIDC_TEAM_MAP: { 'Home Team': { organization: 'Home', users: true } },
  AUTH_LDAP_SERVER_URI: 'ldaps://ldap.example.com',
  AUTH_LDAP_BIND_DN: 'cn=svc',
  AUTH_LDAP_BIND_PASSWORD: 'of the directory',
  AUTH_LDAP_USER_DN_TEMPLATE: 'uid=%(user)s,dc=example,dc=com',
  SOCIAL_AUTH_GITHUB_KEY: 'id',
  SOCIAL_AUTH_SAML_ENABLED_IDPS: { bad: { entity_id: 'x', url: 'no URL', x509cert: 'no' } },
};

let first: ReturnType<LoginImport['run']> | undefined;
/** Imports the settings once, for any test. */
const imported = (): ReturnType<LoginImport['run']> =>
  (first ??= test.app.get(LoginImport, { strict: false }).run(SETTINGS));

it('the import creates disabled authenticators with their maps, and reports missing settings', async () => {
  const { created, secrets, notes } = await imported();
  const { results } = (await test.as.superuser.get('authenticators/?order_by=name').expect(200))
    .body;
  expect(results).toMatchObject([
    { name: 'GitHub', kind: 'github', enabled: false },
    {
      name: 'LDAP',
      kind: 'ldap',
      enabled: false,
      configuration: {
        bind_password: '$encrypted$',
        user_dn_template: 'uid={username},dc=example,dc=com',
      },
    },
    { name: 'OIDC', kind: 'oidc', enabled: false },
  ]);
  const path = `authenticators/${results[2].id}/maps/?order_by=name`;
  expect((await test.as.superuser.get(path).expect(200)).body.results).toMatchObject([
    { name: 'Home, team Home Team: users always', team: test.home.team.id, role: 'member_role' },
    { name: 'Home: admins by username', organization: test.home.organization.id, value: 'ada' },
  ]);
  expect(created).toHaveLength(5);
  expect(secrets).toEqual(['OIDC: client_secret', 'GitHub: client_secret']);
  expect(notes).toEqual([
    expect.stringMatching(/^SAML: give the providers/),
    expect.stringMatching(/^GitHub: everyone could log in/),
    expect.stringMatching(/^OIDC, map "Nowhere: users always": there is no such organization/),
    expect.stringMatching(/^SAML bad: \{"configuration":/),
  ]);
});

it('the import command does not change existing authenticators', async () => {
  await imported();
  const file = join(await mkdtemp(join(tmpdir(), 'import-')), 'settings.json');
  await writeFile(file, JSON.stringify(SETTINGS));
  const written: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    expect(await withSettingsOf(test, {}, () => importLogins([file]))).toBe(0);
  } finally {
    write.mockRestore();
    await rm(dirname(file), { recursive: true });
  }
  const text = written.join('');
  expect(text).toMatch(
    /^Created, disabled:\n {2}- nothing\nSecrets to enter:\n {2}- nothing\nNot carried/,
  );
  expect(text).toContain('  - OIDC: skipped, because an authenticator of this name exists\n');
});
