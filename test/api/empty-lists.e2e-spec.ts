/**
 * Collections that clients read although the product has no such objects
 * (docs/contract/clients.md#starting).
 */
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const EMPTY = ['applications'];

it('names them in the root', async () => {
  const { body } = await test.as.nobody.get('/api/v2/').expect(200);
  for (const name of EMPTY) expect(body).toHaveProperty(name, `/api/v2/${name}/`);
});

it.each(EMPTY)('describes %s as readable, whether object 1 exists or not', async (name) => {
  const list = await test.as.superuser.options(`${name}/`).expect(200);
  expect(list.headers.allow).toBe('GET, HEAD, OPTIONS');
  expect(Object.keys(list.body.actions)).toEqual(['GET']);
  for (const field of Object.values<{ type?: string }>(list.body.actions.GET)) {
    expect(typeof field.type).toBe('string');
  }
  const detail = await test.as.superuser.options(`${name}/1/`).expect(200);
  expect(detail.headers.allow).toBe('GET, HEAD, OPTIONS');
});

it.each(EMPTY)('lists no %s, with filters or without', async (name) => {
  const { as } = test;
  const none = { count: 0, next: null, previous: null, results: [] };
  for (const query of ['', '?name=x', '?order_by=-id&search=y', '?page=last', '?id__in=1,2']) {
    const { body } = await as.nobody.get(`${name}/${query}`).expect(200);
    expect(body).toEqual(none);
  }
  await as.nobody.get(`${name}/?count_disabled=1`).expect(200);
  await as.nobody.get(`${name}/?page=2`).expect(404);
  await as.nobody.get(`${name}/?nonsense=1`).expect(400);
  await as.superuser.get(`${name}/1/`).expect(404);
  await as.superuser.get(`${name}/some-name/`).expect(404);
  await as.superuser.post(`${name}/`, { name: 'x' }).expect(405);
  await as.anonymous.get(`${name}/`).expect(401);
});
