/** Rights that applications and their administrators cannot take from users (docs/applications.md). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';

const PASSWORD = 'a long enough password';
const CALLBACK = 'https://client.example.org/cb';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const at = (path: string): string => `${test.url}${path}`;

let made = 0;
async function application(more: object = {}): Promise<Row> {
  made += 1;
  const { body } = await test.as.superuser
    .post('applications/', {
      ...{ name: `Client ${made}`, organization: test.home.organization.id },
      ...{ client_type: 'confidential', authorization_grant_type: 'authorization-code' },
      ...{ redirect_uris: CALLBACK, ...more },
    })
    .expect(201);
  return body as Row;
}

it('a link to the consent page cannot consent when the user cancels', async () => {
  const { username } = await test.make.user({ password: PASSWORD });
  const browser = new CookieBrowser();
  await browser.visit(at('/api/login/'));
  await browser.send(at('/api/login/'), { username: String(username), password: PASSWORD });
  const parameters = {
    client_id: String((await application()).client_id),
    ...{ redirect_uri: CALLBACK, response_type: 'code', scope: 'read', state: 'xyz' },
    ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
  };
  const decision = { allow: '1', decision: 'allow', allowed: 'true', _method: 'GET' };
  const query = new URLSearchParams({ ...parameters, ...decision });
  const page = await (await browser.visit(at(`/api/o/authorize/?${String(query)}`))).text();
  const [form = ''] =
    /<form method="post" action="\/api\/o\/authorize\/"[^]*?<\/form>/.exec(page) ?? [];
  const hidden = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']): [string, string] => [name, value])
    .filter(([name]) => name !== 'csrfmiddlewaretoken');
  expect(Object.fromEntries(hidden)).toEqual(parameters);
  const [, name = '', value = ''] = /<button name="(\w+)" value="(\w+)">Cancel</.exec(form) ?? [];
  const sent = { ...Object.fromEntries(hidden), [name]: value };
  const { headers } = await browser.send(at('/api/o/authorize/'), sent);
  expect(headers.get('location')).toContain('error=access_denied');
});

describe('an application that skips the consent', () => {
  const path = ({ id }: Row): string => `applications/${id}/`;

  it.each([
    ['redirect_uris', { redirect_uris: `${CALLBACK} https://evil.example.org/cb` }],
    ['client_type', { client_type: 'public' }],
  ])('keeps its %s for administrators of the organization', async (field, change) => {
    const app = await application({ skip_authorization: true });
    const { body } = await test.as.orgAdmin.patch(path(app), change).expect(403);
    expect(body.detail).toBe(
      `Only superusers can change ${field} of an application that skips the consent of users.`,
    );
    await test.as.superuser.patch(path(app), change).expect(200);
  });

  it('stays in its organization for administrators of both', async () => {
    const app = await application({ skip_authorization: true });
    const organization = await test.make.organization();
    await test.make.grant('organization', organization, 'admin_role', {
      user: test.as.users.orgAdmin,
    });
    const change = { organization: organization.id };
    await test.as.orgAdmin.patch(path(app), change).expect(403);
    await test.as.superuser.patch(path(app), change).expect(200);
  });

  it('can be changed otherwise, and completely once it asks for the consent', async () => {
    const app = await application({ skip_authorization: true });
    const { body: shown } = await test.as.orgAdmin.get(path(app)).expect(200);
    await test.as.orgAdmin.put(path(app), { ...shown, description: 'Portal' }).expect(200);
    const change = { redirect_uris: 'https://other.example.org/cb', skip_authorization: false };
    const { body } = await test.as.orgAdmin.patch(path(app), change).expect(200);
    expect(body).toMatchObject({ ...change, description: 'Portal' });
  });
});
