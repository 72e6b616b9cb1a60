/**
 * Tokens with the scope `read` change nothing on any route: they are refused before the object and the body
 * are read. matrix.json covers tokens with the scope `write` on each route.
 *
 * Budget: 40 s, because it sends two requests to every route that changes something.
 */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { confidentialClient } from '../support/sample-bodies.js';

let test: TestApp;
let application: number;
beforeAll(async () => {
  test = await boot();
  const body = { organization: test.home.organization.id, ...confidentialClient('Reader') };
  application = (await test.as.superuser.post('applications/', body).expect(201)).body.id;
});
afterAll(() => test.close());

/** Creates a client with a superuser's token for the application. */
async function clientOf(scope: 'read' | 'write'): Promise<ApiClient> {
  const path = `applications/${application}/tokens/`;
  const { body } = await test.as.superuser.post(path, { scope }).expect(201);
  return test.as.anonymous.with({ Authorization: `Bearer ${body.token}` });
}

const unsafeRoutes = () =>
  test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, info }) => method !== 'GET' && info?.access === 'authenticated');

it.each(['a token', 'a token of an application'])(
  'with the scope read, %s is refused by every route that changes data',
  async (kind) => {
    const client = kind.endsWith('application')
      ? await clientOf('read')
      : await test.as.asUser(test.as.users.superuser, { scope: 'read' });
    const faults: string[] = [];
    for (const { method, pattern } of unsafeRoutes()) {
      // The id of no object, and a body that is not JSON: neither is read.
      const path = `${pattern.replace(/:\w+/g, '2147483647')}/`;
      const { status } = await client
        .request(method.toLowerCase(), path, '{')
        .redirects(0)
        .set('Accept', 'application/json');
      if (status !== 403) faults.push(`${method} ${pattern}: ${status}`);
    }
    expect(faults).toEqual([]);
    expect(unsafeRoutes().length).toBeGreaterThan(200);
  },
);

it('with the scope write, a token of an application can write', async () => {
  const client = await clientOf('write');
  const label = { name: 'made', organization: test.home.organization.id };
  const { body } = await client.post('labels/', label).expect(201);
  await client.patch(`labels/${body.id}/`, { name: 'changed' }).expect(200);
});

it('with the scope read, a token of an application can read', async () => {
  await (await clientOf('read')).get('labels/').expect(200);
});
