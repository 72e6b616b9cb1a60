/**
 * Logins with Active Directory, by Samba as a domain controller: binds of users that a domain disables,
 * GUIDs and the matching rule for nested groups are those of a real domain.
 *
 * Only in the deep slice `domain`.
 * Budget: 60 s, because it creates a domain.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { HAS_DOMAIN } from '../support/depth.js';
import { DOMAIN, DOMAIN_USERS, DomainController } from '../support/fakes/domain-controller.js';
import { TEST_CERTIFICATE } from '../support/fakes/test-certificate.js';

const PASSWORD = 'Passw0rd-of-a-user';

(HAS_DOMAIN ? describe : describe.skip)('a login with a domain', () => {
  let test: TestApp;
  let domain: DomainController;
  let authenticator: Row;
  beforeAll(async () => {
    test = await boot();
    domain = await DomainController.start();
    for (const name of ['ada', 'bob', 'eve', 'zoe'])
      await domain.tool('user', 'create', name, PASSWORD);
    for (const name of ['inner', 'outer']) await domain.tool('group', 'add', name);
    await domain.tool('group', 'addmembers', 'inner', 'ada');
    await domain.tool('group', 'addmembers', 'outer', 'inner');
    authenticator = await test.make.row('authenticator', {
      name: 'Domain',
      kind: 'ldap',
      configuration: configuration(),
    });
  }, 120_000);
  afterAll(async () => {
    await domain.close();
    await test.close();
  });

  const configuration = (changes: object = {}): object => ({
    servers: domain.url,
    ca: TEST_CERTIFICATE,
    ...domain.account,
    user_base: DOMAIN,
    user_filter: '(&(objectCategory=person)(sAMAccountName={username}))',
    username_attribute: 'sAMAccountName',
    id_attribute: 'objectGUID',
    ...changes,
  });

  const basic = (name: string, password = PASSWORD): ApiClient =>
    test.as.anonymous.with({
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    });

  const trial = async (changes: object): Promise<Record<string, unknown>> => {
    const path = `authenticators/${authenticator.id}/`;
    await test.as.superuser.patch(path, { configuration: configuration(changes) }).expect(200);
    const { body } = await test.as.superuser.post(`${path}test/`, { username: 'ada' }).expect(200);
    return body.claims;
  };

  it('accepts logon names, and refuses wrong passwords', async () => {
    const { body } = await basic('ada').get('me/').expect(200);
    expect(body.results[0]).toMatchObject({ username: 'ada', external_account: 'domain' });
    await basic('ada', 'wrong').get('me/').expect(401);
    await basic('nobody').get('me/').expect(401);
  });

  it('finds direct groups by memberOf, and nested groups by the rule of Active Directory', async () => {
    const sub = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(await trial({})).toMatchObject({ sub, groups: ['inner'] });
    const nested = await trial({ group_kind: 'nested', group_base: DOMAIN });
    expect([...(nested.groups as string[])].sort()).toEqual(['inner', 'outer']);
    expect(nested.group_dns).toContain(`CN=outer,${DOMAIN_USERS}`);
  });

  it('refuses disabled accounts, expired accounts and passwords that must change', async () => {
    for (const name of ['bob', 'eve', 'zoe']) await basic(name).get('me/').expect(200);
    await domain.tool('user', 'disable', 'bob');
    await domain.set(`CN=eve,${DOMAIN_USERS}`, { pwdLastSet: '0' });
    await domain.set(`CN=zoe,${DOMAIN_USERS}`, { accountExpires: '1' });
    // Spelled differently, because a successful login is cached.
    for (const name of ['BOB', 'EVE', 'ZOE']) await basic(name).get('me/').expect(401);
  });
});
