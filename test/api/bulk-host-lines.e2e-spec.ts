import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries } from '../support/queries.js';

const LINES = 'application/x-ndjson';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot({
    settings: {
      BULK_HOST_MAX_STREAM: '30000',
      BULK_HOST_STREAM_LIMIT: '3000000',
      BODY_LIMIT: '4096',
    },
  });
});
afterAll(() => test.close());
beforeEach(async () => {
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});

const urlOf = (query = '', id: unknown = inventory.id) =>
  `bulk/host_create/?inventory=${String(id)}${query}`;
const send = (body: string, query = '', persona: PersonaName = 'orgAdmin', headers = {}) =>
  test.as[persona]
    .with({ 'Content-Type': LINES, ...headers })
    .request('post', urlOf(query))
    .send(body);
const lines = (...values: unknown[]): string =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');
const many = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `{"name":"h${from + index}"}\n`).join('');
/** Returns the parsed lines of an NDJSON response. */
const sendForLines = async (body: string): Promise<unknown[]> => {
  const answer = await send(body, '', 'orgAdmin', { Accept: LINES })
    .buffer(true)
    .parse((response, done) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => done(null, text));
    })
    .expect(200)
    .expect('Content-Type', LINES);
  return (answer.body as string)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
};
const hostCount = async (): Promise<number> => {
  const row = await test.database.row<{ hosts: number }>(
    sql`SELECT count(*)::int AS hosts FROM hosts WHERE inventory_id = ${inventory.id}`,
  );
  return row!.hosts;
};
const activity = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT changes FROM activity_stream WHERE object1 = 'inventory' AND operation = 'update'
      AND object1_id = ${inventory.id}`);

it('creates a host for each line', async () => {
  const body = lines(
    { name: 'a', variables: { x: 1 }, enabled: false, description: 'one', groups: ['web'] },
    '',
    { name: 'b:2222' },
  );
  const answer = await send(`${body}\r\n`).expect(201);
  const url = `/api/v2/inventories/${inventory.id}/`;
  expect(answer.body).toEqual({ url, inventory: inventory.id, created: 2 });
  expect(answer.headers.location).toBe(url);
  const { body: list } = await test.as.orgAdmin.get(`inventories/${inventory.id}/hosts/`);
  expect(list.results).toMatchObject([
    {
      name: 'a',
      variables: '{"x": 1}',
      enabled: false,
      description: 'one',
      summary_fields: { groups: { results: [{ name: 'web' }] } },
    },
    { name: 'b', variables: '{"ansible_ssh_port": 2222}', enabled: true },
  ]);
  expect(await activity()).toMatchObject([
    { changes: { total_hosts: [0, 2], groups_created: ['web'] } },
  ]);
});

it('reports progress and results as lines on request', async () => {
  expect(await sendForLines(many(12_000))).toEqual([
    { progress: { phase: 'reading', lines: 5000 } },
    { progress: { phase: 'reading', lines: 10_000 } },
    { progress: { phase: 'writing', lines: 10_000, of: 12_000 } },
    { progress: { phase: 'writing', lines: 12_000, of: 12_000 } },
    {
      status: 201,
      result: {
        url: `/api/v2/inventories/${inventory.id}/`,
        inventory: inventory.id,
        created: 12_000,
      },
    },
  ]);
});

it('reports an error in the last line', async () => {
  expect(await sendForLines('{"name": ""}')).toEqual([
    { status: 400, error: { lines: { 1: { name: ['This field may not be blank.'] } } } },
  ]);
});

it('reports all errors by line and creates nothing', async () => {
  await test.make.host(inventory, { name: 'old' });
  await test.make.group(inventory, { name: 'group' });
  const { body } = await send(
    lines(
      { name: 'ok' },
      '{"name": ',
      '[]',
      {},
      '',
      { name: 'x', enabled: 'perhaps', variables: '[1]' },
      { name: 'ok' },
      { name: 'old' },
      { name: 'group' },
      { name: 'y', groups: ['ok'] },
      `{"name": "long", "description": "${'x'.repeat(5000)}"}`,
    ),
  ).expect(400);
  expect(body).toEqual({
    lines: {
      2: { __all__: [expect.stringMatching(/^JSON parse error - /)] },
      3: { __all__: ['Invalid data. Expected a dictionary, but got list.'] },
      4: { name: ['This field is required.'] },
      6: {
        enabled: ['Must be a valid boolean.'],
        variables: [expect.stringMatching(/^Cannot parse as JSON/)],
      },
      7: { name: ['Hostnames must be unique in an inventory.'] },
      8: { name: ['Hostnames must be unique in an inventory.'] },
      9: { name: ['A Group with that name already exists.'] },
      10: { groups: ['A Host with that name already exists. (ok)'] },
      11: { __all__: ['The line is too long, or not UTF-8.'] },
    },
  });
  expect(await hostCount()).toBe(1);
  expect(await activity()).toEqual([]);
});

it('lists the errors of a hundred lines and counts the others', async () => {
  const { body } = await send('{}\n'.repeat(250)).expect(400);
  expect(Object.keys(body.lines as object)).toHaveLength(100);
  expect(body.__all__).toEqual(['150 further lines have errors.']);
  await send(many(200)).expect(201);
  const again = await send(many(200)).expect(400);
  expect(Object.keys(again.body.lines as object)).toHaveLength(100);
  expect(again.body.__all__).toEqual(['100 further lines have errors.']);
});

it.each([
  ['', {}, 400, { detail: 'The request body has no lines.' }],
  ['\n\n', {}, 400, { detail: 'The request body has no lines.' }],
  [
    '{"name":"a"}',
    { query: '&on_conflict=x' },
    400,
    { on_conflict: ['"x" is not a valid choice.'] },
  ],
])('refuses %j with %j', async (body, { query = '' }: { query?: string }, status, answer) => {
  expect((await send(body, query).expect(status)).body).toEqual(answer);
});

it('refuses bytes that are not UTF-8', async () => {
  const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]);
  const { body } = await test.as.orgAdmin
    .with({ 'Content-Type': LINES })
    .request('post', urlOf())
    .send(bytes as never)
    .expect(400);
  expect(body).toEqual({ lines: { 1: { __all__: ['The line is too long, or not UTF-8.'] } } });
});

it('responds alike for unknown and unauthorized inventories, before it reads the body', async () => {
  const text = (id: unknown) => ({
    inventory: [`Invalid pk "${String(id)}" - object does not exist.`],
    __all__: [`Inventory with id ${String(id)} not found or lack permissions to add hosts.`],
  });
  for (const persona of ['orgMember', 'auditor', 'outsider'] as const) {
    expect((await send('nonsense', '', persona).expect(400)).body).toEqual(text(inventory.id));
  }
  const unknown = await test.as.superuser
    .with({ 'Content-Type': LINES })
    .request('post', urlOf('', 999_999))
    .send('{}');
  expect(unknown.status).toBe(400);
  expect(unknown.body).toEqual(text(999_999));
  await test.as.anonymous
    .with({ 'Content-Type': LINES })
    .request('post', urlOf())
    .send('{}')
    .expect(401);
  await test.as.superuser
    .with({ 'Content-Type': LINES })
    .request('post', 'bulk/host_create/')
    .send('{}')
    .expect(400, { inventory: ['This field is required.'] });
});

it('has its own limits', async () => {
  const { body } = await send(many(30_001)).expect(400);
  expect(body.__all__).toEqual([
    expect.stringMatching(
      /^Number of hosts exceeds system setting BULK_HOST_MAX_STREAM: .* 30000 allowed\.$/,
    ),
  ]);
  const large = `${JSON.stringify({ name: 'a', description: 'x'.repeat(3000) })}\n`;
  expect((await send(large.repeat(1000)).expect(413)).body).toEqual({
    detail: 'The request body is larger than 3000000 bytes.',
  });
  await send(many(30_000)).expect(201);
  expect(await hostCount()).toBe(30_000);
});

it('applies the host limit of the organization', async () => {
  const organization = await test.make.organization({ max_hosts: 2 });
  inventory = await test.make.inventory({ organization: organization.id });
  await send(many(3), '', 'superuser').expect(403);
  await send(many(2), '', 'superuser').expect(201);
  await send(many(2), '&on_conflict=update', 'superuser').expect(201);
});

it('changes existing hosts on request', async () => {
  await test.make.host(inventory, { name: 'old', description: 'kept' });
  const body = lines({ name: 'old', variables: 'a: 1' }, { name: 'new' });
  expect((await send(body, '&on_conflict=update').expect(201)).body).toMatchObject({
    created: 1,
    updated: 1,
    unchanged: 0,
  });
  expect((await send(body, '&on_conflict=update').expect(201)).body).toMatchObject({
    created: 0,
    updated: 0,
    unchanged: 2,
  });
});

it('writes nothing in a dry run', async () => {
  expect((await send(many(3), '&dry_run=1').expect(200)).body).toMatchObject({
    dry_run: true,
    created: 3,
  });
  expect(await hostCount()).toBe(0);
  await send(lines({ name: 'a' }, {}), '&dry_run=1').expect(400);
  await test.make.host(inventory, { name: 'old', description: 'kept' });
  await test.make.host(inventory, { name: 'same' });
  const body = lines({ name: 'old', description: 'lost' }, { name: 'same' }, { name: 'new' });
  expect((await send(body, '&on_conflict=update&dry_run=1').expect(200)).body).toMatchObject({
    ...{ created: 1, updated: 1, unchanged: 1 },
  });
});

it('returns the first response for a repeated key', async () => {
  const key = { 'Idempotency-Key': `lines ${inventory.id}` };
  const first = await send(many(3), '', 'orgAdmin', key).expect(201);
  const again = await send(many(3), '', 'orgAdmin', key).expect(201);
  expect(again.body).toEqual(first.body);
  expect(again.headers['idempotent-replayed']).toBe('true');
  await send(many(4), '', 'orgAdmin', key).expect(409);
  expect(await hostCount()).toBe(3);
});

it('sends a constant number of statements within a batch', async () => {
  // The first request of a user fills caches.
  await send(many(1)).expect(201);
  const one = await countQueries(test.database, () => send(many(1, 5)).expect(201));
  expect(await countQueries(test.database, () => send(many(1500, 10)).expect(201))).toBe(one);
});

describe('a body that is sent slowly', () => {
  let client: ClientRequest;
  let answered: Promise<IncomingMessage>;
  beforeEach(async () => {
    const { body } = await test.as.orgAdmin.post('tokens/', {}).expect(201);
    client = httpRequest(`${test.url}/api/v2/${urlOf()}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${body.token}`, 'Content-Type': LINES, Accept: LINES },
    });
    client.on('error', () => undefined);
    answered = once(client, 'response').then(([response]) => response as IncomingMessage);
    client.write(many(6000));
  });

  it('holds no transaction, and its progress is visible', async () => {
    const response = await answered;
    const [chunk] = (await once(response, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('{"progress":{"phase":"reading","lines":5000}}\n');
    const open = await test.database.rows(sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
        AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
    expect(open).toEqual([]);
    client.end(many(1, 6000));
    const rest: Buffer[] = [];
    for await (const more of response) rest.push(more as Buffer);
    expect(Buffer.concat(rest).toString()).toContain('"created":6001');
    expect(await hostCount()).toBe(6001);
  });

  it('leaves nothing behind if it is incomplete', async () => {
    await once(await answered, 'data');
    client.destroy();
    await eventually(async () => {
      const busy = await test.database.rows(sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
          AND state <> 'idle' AND pid <> pg_backend_pid()`);
      expect(busy).toEqual([]);
    });
    expect(await hostCount()).toBe(0);
    await send(many(2)).expect(201);
  });
});

it('a user has at most four bodies at the same time', async () => {
  const { body } = await test.as.orgAdmin.post('tokens/', {}).expect(201);
  const start = (): ClientRequest => {
    const client = httpRequest(`${test.url}/api/v2/${urlOf()}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${body.token}`, 'Content-Type': LINES, Accept: LINES },
    });
    client.on('error', () => undefined);
    client.write(many(6000));
    return client;
  };
  const clients = Array.from({ length: 4 }, start);
  const begun = async (client: ClientRequest): Promise<void> => {
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    await once(response, 'data');
  };
  try {
    await Promise.all(clients.map(begun));
    const { headers } = await send(many(1)).expect(429);
    expect(headers['retry-after']).toBe('5');
    await send(many(1), '', 'superuser').expect(201);
  } finally {
    for (const client of clients) client.destroy();
  }
  await eventually(() => send(many(1), '&on_conflict=update').expect(201));
});

it('the operation is described in the OpenAPI document', async () => {
  const { body } = await test.as.superuser.options('bulk/host_create/').expect(200);
  expect(body.parses).toContain(LINES);
  expect(body.renders).toContain(LINES);
  expect((await test.as.superuser.options('bulk/host_delete/')).body.parses).not.toContain(LINES);
  const other = test.as.superuser.with({ 'Content-Type': LINES });
  await other.request('post', 'bulk/host_delete/').send('{}').expect(415);
});
