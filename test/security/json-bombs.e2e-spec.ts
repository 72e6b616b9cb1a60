/** JSON that is small to send and large to hold is refused before it is parsed. */
import { boot, type TestApp } from '../support/boot.js';
import { eventLoopTime } from '../support/event-loop.js';

const MEGABYTE = 1_048_576;
/**
 * Limit on the time the event loop is busy, including the test's own requests. Without the check it took
 * seconds.
 */
const MAX_MS = 800;

let test: TestApp;
beforeAll(async () => {
  test = await boot();
  // A first request loads and compiles modules, which must not count.
  await test.as.nobody.post('teams/', {}).expect(400);
});
afterAll(() => test.close());

const repeated = (text: string): string => text.repeat(MEGABYTE / text.length - 2);
const BOMBS: [string, string][] = [
  ['lists', `[${repeated('[],')}0]`],
  ['objects', `[${repeated('{},')}0]`],
  ['numbers', `[${repeated('0,')}0]`],
  [
    'names',
    `{${Array.from({ length: 110_000 }, (_, index) => `"${index.toString(36)}":0`).join()}}`,
  ],
  [
    'names of one object',
    `{${Array.from({ length: 20_001 }, (_, index) => `"${index.toString(36)}":0`).join()}}`,
  ],
  ['kinds', `[${Array.from({ length: 60_000 }, (_, index) => `{"k${index}":0}`).join()}]`],
];
const TOO_MANY = 'JSON parse error - too many values';

it.each(BOMBS)('a JSON bomb of %s in a body is refused', async (_what, json) => {
  let answer: { status: number; body: object } | undefined;
  const time = await eventLoopTime(async () => {
    answer = await test.as.nobody.post('teams/', `{"name": ${json}}`);
  });
  expect([answer?.status, answer?.body]).toEqual([400, { detail: TOO_MANY }]);
  expect(time).toBeLessThan(MAX_MS);
});

it.each(BOMBS)('a JSON bomb of %s in a bulk request is refused', async (_what, json) => {
  const { body } = await test.as.nobody.post(
    'bulk/host_create/',
    `{"hosts": ${json.slice(0, 1_000_000)}`,
  );
  expect(body).toEqual({ detail: TOO_MANY });
});

it('a JSON bomb of nested levels is refused', async () => {
  const { body } = await test.as.nobody.post('teams/', '['.repeat(MEGABYTE)).expect(400);
  expect(body).toEqual({ detail: 'JSON parse error - nested deeper than 64 levels' });
});

it('a JSON bomb within a text is refused', async () => {
  const [, lists] = BOMBS[0]!;
  const { home, as } = test;
  const template = await as.orgAdmin
    .post('notification_templates/', {
      name: 'x',
      organization: home.organization.id,
      notification_type: 'webhook',
      notification_configuration: lists,
    })
    .expect(400);
  expect(template.body.notification_configuration).toEqual(['Value must be valid JSON.']);
  const hosts = await as.orgAdmin
    .post('bulk/host_create/', { inventory: 1, hosts: lists.slice(0, 900_000) })
    .expect(400);
  expect(hosts.body.hosts).toEqual(['Expected a list of items but got type "str".']);
});

it('a JSON body in another encoding is refused', async () => {
  const { status } = await fetch(`${test.url}/api/v2/teams/`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await test.make.token(test.as.users.nobody)}`,
      'Content-Type': 'application/json; charset=utf-16',
    },
    body: Buffer.from('{"name": "x"}', 'utf16le'),
  });
  expect(status).toBe(415);
});
