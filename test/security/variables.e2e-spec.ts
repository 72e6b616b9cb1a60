/**
 * The time to parse variables is linear in their size, and long ones do not block other requests.
 *
 * Budget: 25 s, because it sends a hundred thousand hosts with variables.
 */
import { Parser } from 'yaml';

import type { Row } from '../../src/common/resource/define-resource.js';
import { Thread } from '../../src/common/thread.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventLoopTime } from '../support/event-loop.js';

/**
 * Limit on the time the event loop is busy, including the test's own requests. On the event loop, parsing
 * took seconds.
 */
const MAX_MS = 800;
const LIMIT = 65_536;
/** Maximum number of characters parsed on the event loop. */
const IN_PLACE = 2048;

/** Spy on the parser of the event loop. Calls in the thread are not visible here. */
const parse = jest.spyOn(Parser.prototype, 'parse');
const handedOver = jest.spyOn(Thread.prototype, 'run');
afterEach(() => {
  expect(parse.mock.calls.map(([text]) => text.length).filter((one) => one > IN_PLACE)).toEqual([]);
  parse.mockClear();
  handedOver.mockClear();
});
/** Returns the number of YAML characters parsed in the thread. */
const readBeside = (): number =>
  handedOver.mock.calls
    .flatMap(([task]) => (task as { texts: string[] }).texts)
    .reduce((length, text) => length + text.length, 0);

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot({ settings: { BULK_BODY_LIMIT: '4000000' } });
  inventory = await test.make.inventory({ organization: test.home.organization.id });
  // A first request loads and compiles modules, which must not count.
  await test.as.orgAdmin.get(`inventories/${inventory.id}/script/`).expect(200);
});
afterAll(() => test.close());

/** Returns a mapping of many keys, in YAML that only the full parser reads. */
const yaml = (length: number): string => {
  const lines: string[] = [];
  for (let size = 0; size < length - 16; size += (lines.at(-1)?.length ?? 0) + 1) {
    lines.push(`n${lines.length}: [1]`);
  }
  return lines.join('\n');
};
const LARGE = yaml(LIMIT);

let names = 0;
const host = (variables: unknown): object => ({
  name: `host-${(names += 1)}`,
  inventory: inventory.id,
  variables,
});

it('variables are not parsed for a caller without permission', async () => {
  const { nobody } = test.as;
  for (const variables of [LARGE, yaml(2 * LIMIT)]) {
    const time = await eventLoopTime(async () => {
      const { status } = await nobody.post('hosts/', host(variables));
      expect(status).toBe(variables === LARGE ? 403 : 400);
    });
    expect(time).toBeLessThan(MAX_MS);
  }
  expect(readBeside()).toBe(0);
  // Short variables are still validated.
  await nobody.post('hosts/', host('a: [')).expect(400);
});

it('variables of the maximum size do not block other requests, and are stored unchanged', async () => {
  const { orgAdmin } = test.as;
  let id = 0;
  const time = await eventLoopTime(async () => {
    const { body } = await orgAdmin.post('hosts/', host(LARGE)).expect(201);
    expect(body.variables).toBe(LARGE);
    id = body.id;
  });
  expect(time).toBeLessThan(MAX_MS);
  expect(readBeside()).toBe(LARGE.length);
  const { body } = await orgAdmin.get(`hosts/${id}/variable_data/`).expect(200);
  expect(body).toMatchObject({ n0: [1], n5000: [1] });
  await orgAdmin.patch(`hosts/${id}/variable_data/`, { more: true }).expect(200);
});

it('variables are parsed for admins of the inventory only', async () => {
  const user = await test.make.user();
  await test.make.grant('inventory', inventory, 'admin_role', { user });
  const keeper = await test.as.asUser(user);
  await keeper.post('hosts/', host('a: [1]')).expect(201);
  await keeper.post('hosts/', host(LARGE)).expect(201);
  await keeper
    .post('groups/', { name: 'large', inventory: inventory.id, variables: LARGE })
    .expect(201);
});

it('invalid variables are refused with the same error, for any length', async () => {
  const { orgAdmin } = test.as;
  const wrong = `${LARGE.slice(0, 60_000).replace(/\n[^\n]*$/, '')}\n? [a]\n: 1`;
  for (const text of ['n0: 1\n? [a]\n: 1', wrong]) {
    const { body } = await orgAdmin.post('hosts/', host(text)).expect(400);
    expect(body.variables[0]).toMatch(/ or YAML \(error: a list cannot be a key\)\.$/);
  }
});

it('variables have a maximum size', async () => {
  const { orgAdmin } = test.as;
  const { body } = await orgAdmin.post('hosts/', host(yaml(LIMIT + 100))).expect(400);
  expect(body.variables[0]).toMatch(/ or YAML \(error: longer than 65536 characters\)\.$/);
  await orgAdmin.post('hosts/', host({ text: 'x'.repeat(1_000_000) })).expect(201);
  const over = await orgAdmin.post('hosts/', host({ text: 'x'.repeat(1_048_576) })).expect(400);
  expect(over.body).toEqual({ variables: ['Variables may have at most 1048576 characters.'] });
});

describe('large variables of many hosts', () => {
  const hosts = (): object[] => Array.from({ length: 16 }, () => host(LARGE));

  it.each([
    ['in a list', () => ({ inventory: inventory.id, hosts: hosts() })],
    ['in a text', () => ({ inventory: inventory.id, hosts: JSON.stringify(hosts()) })],
  ])('%s', async (_how, body) => {
    const time = await eventLoopTime(() =>
      test.as.orgAdmin.post('bulk/host_create/', body()).expect(201),
    );
    expect(time).toBeLessThan(MAX_MS);
    expect(readBeside()).toBe(LARGE.length);
  });

  it('as lines', async () => {
    const lines = hosts()
      .map((one) => JSON.stringify(one))
      .join('\n');
    const token = await test.make.token(test.as.users.orgAdmin);
    const time = await eventLoopTime(async () => {
      const url = `${test.url}/api/v2/bulk/host_create/?inventory=${inventory.id}`;
      const headers = {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/x-ndjson',
      };
      expect((await fetch(url, { method: 'POST', headers, body: lines })).status).toBe(201);
    });
    expect(time).toBeLessThan(MAX_MS);
    expect(readBeside()).toBeGreaterThanOrEqual(LARGE.length);
  });

  it('in the inventory for Ansible', async () => {
    const { make, home, database } = test;
    const crowded = await make.inventory({ organization: home.organization.id });
    await make.hosts(crowded, 49);
    await database.execute(sql`
      UPDATE hosts SET variables = ${LARGE} WHERE inventory_id = ${crowded.id}`);
    const time = await eventLoopTime(async () => {
      const path = `inventories/${crowded.id}/script/?hostvars=1`;
      const { body } = await test.as.orgAdmin.get(path).expect(200);
      expect(Object.keys(body._meta.hostvars).length).toBeGreaterThan(48);
    });
    // The response has megabytes, which the test parses as well. On the event loop it took twelve seconds.
    expect(time).toBeLessThan(5 * MAX_MS);
  }, 120_000);
});

it('variables of a template are parsed once for all its launches', async () => {
  const { make, home, as } = test;
  const project = await make.project({ organization: home.organization.id });
  const extra_vars = yaml(20_000);
  const template = await make.jobTemplate({
    project: project.id,
    inventory: inventory.id,
    extra_vars,
  });
  // The setup above parsed variables outside of any request.
  parse.mockClear();
  handedOver.mockClear();
  const jobs = Array.from({ length: 50 }, () => ({ unified_job_template: template.id }));
  const time = await eventLoopTime(() =>
    as.orgAdmin
      .post('bulk/job_launch/', { name: 'x', organization: home.organization.id, jobs })
      .expect(201),
  );
  expect(time).toBeLessThan(MAX_MS);
  expect(readBeside()).toBe(extra_vars.length);
});
