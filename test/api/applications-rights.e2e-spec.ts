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
