/** Canary words in every secret never appear in a response or a log line. */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';

const CANARY = 'canary-b7f3';

let test: TestApp;
const tokens: string[] = [];
beforeAll(async () => {
  test = await boot();
  const { as, home, make } = test;
  const organization = home.organization.id;
  const user = await as.superuser
    .post('users/', { username: 'keeper', password: `${CANARY}-password` })
    .expect(201);
  await as.superuser.patch(user.body.url, { password: `${CANARY}-changed` }).expect(200);
  const token = await as.superuser.post('tokens/', { description: 'kept' }).expect(201);
  tokens.push(token.body.token);
  const credential = await make.credential({
    organization,
    inputs: {
      username: 'visible',
      password: `${CANARY}-machine`,
      become_password: `${CANARY}-become`,
    },
  });
  await as.superuser
    .patch(`credentials/${credential.id}/`, {
      inputs: { username: 'visible', password: `${CANARY}-machine-2`, become_password: '' },
    })
    .expect(200);
  const template = await as.superuser
    .post('notification_templates/', {
      name: 'kept',
      organization,
      notification_type: 'webhook',
      notification_configuration: {
        url: 'http://127.0.0.1:9/hook',
        http_method: 'POST',
        headers: {},
        disable_ssl_verification: false,
        username: 'visible',
        password: `${CANARY}-basic`,
        signing_secret: `${CANARY}-signing`,
      },
    })
    .expect(201);
  await as.superuser.post(`${template.body.url}test/`, {}).expect(200);
});
afterAll(() => test.close());

const expectNone = (text: string, where: string): void => {
  for (const secret of [CANARY, ...tokens]) {
    const at = text.indexOf(secret);
    if (at >= 0) throw new Error(`${where}: ${text.slice(Math.max(0, at - 80), at + 60)}`);
  }
};

it('no response of any URL contains a secret', async () => {
  const samples = new Samples(test);
  const routes = test.app.get(RouteTable, { strict: false }).routes;
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    if (route.pattern.endsWith('/stream')) continue;
    const path = await samples.pathOf(route);
    const query = route.info?.kind === 'list' ? '?page_size=200' : '';
    const { text } = await test.as.superuser.get(`${path}${query}`);
    expectNone(text ?? '', path);
  }
}, 60_000);

it('no page of any list shows a secret in a browser', async () => {
  const browser = test.as.superuser.with({ Accept: 'text/html' });
  for (const path of [
    'users',
    'credentials',
    'notification_templates',
    'notifications',
    'tokens',
  ]) {
    const { body } = await test.as.superuser.get(`${path}/?page_size=200`).expect(200);
    const urls = [`${path}/`, ...(body.results as { url: string }[]).map(({ url }) => url)];
    for (const url of urls) expectNone((await browser.get(url).expect(200)).text, url);
  }
});

it('no table contains a secret in clear text', async () => {
  const tables = await test.database.rows<{ name: string }>(sql`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`);
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const rows = await test.database.rows<{ line: string }>(sql`
      SELECT row::text AS line FROM ${ident(name)} row`);
    for (const { line } of rows) expectNone(line, name);
  }
});
