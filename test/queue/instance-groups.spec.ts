import { sql } from '../../src/database/sql.js';
import { IS_DEEP } from '../support/depth.js';
import { RunsDatabase, type RunFields } from './runs-database.js';

/** Placement by instance groups, pass by pass (docs/contract/runs.md#placement). */
let runs: RunsDatabase;

beforeAll(async () => {
  runs = await RunsDatabase.open();
});
afterAll(() => runs.close());
beforeEach(async () => {
  await runs.reset(100);
  await runs.database.execute(sql`DELETE FROM worker_nodes`);
  await runs.database.execute(sql`DELETE FROM instances`);
  await runs.database.execute(sql`DELETE FROM instance_groups WHERE name <> 'default'`);
});

const insert = async (table: string, fields: RunFields): Promise<number> => {
  const columns = Object.keys(fields);
  const text = `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')})
    VALUES (${columns.map((_name, at) => `$${at + 1}`).join(', ')}) RETURNING id`;
  const row = await runs.database.row<{ id: number }>({ text, values: Object.values(fields) });
  return row!.id;
};

const machine = async (
  hostname: string,
  slots: number,
  fields: RunFields = {},
): Promise<number> => {
  await runs.database.execute(sql`
    INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
    VALUES (${hostname}, ${hostname}, 'key', 1, '1', ${slots})`);
  return insert('instances', { hostname, cpu_capacity: 1000, mem_capacity: 1000, ...fields });
};
const group = (name: string, listed: readonly string[] = [], fields: RunFields = {}) =>
  insert('instance_groups', {
    ...{ name, policy_instance_list: JSON.stringify(listed) },
    ...fields,
  });
const prefer = (type: string, id: number, groupId: number) =>
  insert(`${type}_instance_groups`, { [`${type}_id`]: id, instance_group_id: groupId });
const prompted = (...groups: readonly number[]): RunFields => ({
  launch_config: JSON.stringify({ instance_groups: groups }),
});

/** Returns the placement of runs as `status group machine`. */
const places = async (...ids: readonly number[]): Promise<string[]> => {
  const rows = await runs.database.rows<{ id: number; place: string }>(sql`
    SELECT run.id, concat_ws(' ', run.status, g.name, nullif(run.execution_node, '')) AS place
    FROM unified_jobs run LEFT JOIN instance_groups g ON g.id = run.instance_group_id
    WHERE run.id = ANY(${ids}::bigint[])`);
  return ids.map((id) => rows.find((row) => row.id === id)?.place ?? 'gone');
};
const pass = () => runs.scheduler.pass();

describe('a run is assigned to', () => {
  it('the default group, which has every machine', async () => {
    await machine('a', 1);
    const job = await runs.job(await runs.template());
    await pass();
    expect(await places(job)).toEqual(['waiting default a']);
    expect(await runs.database.rows(sql`SELECT queue, machine FROM outbox`)).toEqual([
      { queue: 'runs', machine: 'a' },
    ]);
  });

  it('the groups of its launch only', async () => {
    await machine('a', 9);
    const [west, east] = [await group('west'), await group('east', ['a'])];
    const template = await runs.template({ allow_simultaneous: true });
    await prefer('job_template', template, east);
    const job = await runs.job(template, { ...prompted(west), allow_simultaneous: true });
    const other = await runs.job(template, { ...prompted(west, east), allow_simultaneous: true });
    await pass();
    expect(await places(job, other)).toEqual(['pending', 'waiting east a']);
  });

  it.each([
    ['its template, its inventory and its organization', {}, {}, ['t', 'i', 'o']],
    ['its template alone', { prevent_instance_group_fallback: true }, {}, ['t']],
    ['its inventory at last', {}, { prevent_instance_group_fallback: true }, ['t', 'i']],
  ])('the groups of %s', async (_what, ofTemplate, ofInventory, expected) => {
    await machine('a', 9);
    const template = await runs.template(ofTemplate);
    const inventory_id = await runs.inventory(ofInventory);
    const organization_id = await insert('organizations', { name: `O ${Math.random()}` });
    for (const [type, id] of [
      ['organization', organization_id],
      ['inventory', inventory_id],
      ['job_template', template],
    ] as const) {
      await prefer(type, id, await group(type.slice(0, 1).replace('j', 't')));
    }
    const job = await runs.job(template, { inventory_id, organization_id });
    await pass();
    const names = await runs.database.rows<{ name: string }>(sql`
      SELECT g.name FROM unified_jobs run, unnest(run.preferred_groups) WITH ORDINALITY AS p(id, at)
      JOIN instance_groups g ON g.id = p.id WHERE run.id = ${job} ORDER BY p.at`);
    expect(names.map(({ name }) => name)).toEqual(expected);
  });

  it('the groups of the inventory or the organization, if it is an update or a command', async () => {
    await machine('a', 9);
    const inventory_id = await runs.inventory();
    const organization_id = await insert('organizations', { name: `O ${Math.random()}` });
    await prefer('inventory', inventory_id, await group('west', ['a']));
    await prefer('organization', organization_id, await group('east', ['a']));
    const command = await runs.command(inventory_id);
    const update = await runs.update(await runs.project(), { organization_id });
    await pass();
    expect(await places(command, update)).toEqual(['waiting west a', 'waiting east a']);
  });
});

it('a full group does not delay runs of other groups', async () => {
  await machine('a', 2);
  await machine('b', 3);
  const [west, east] = [await group('west', ['a']), await group('east', ['b'])];
  const template = await runs.template();
  const four = async (fields: RunFields): Promise<number[]> => {
    const ids: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(await runs.job(template, { ...fields, allow_simultaneous: true }));
    }
    return ids;
  };
  const inWest = await four(prompted(west));
  const inEither = await four(prompted(west, east));
  const inEast = await four(prompted(east));
  await pass();
  const rest = ['pending', 'pending', 'pending'];
  expect(await places(...inWest)).toEqual([
    ...['waiting west a', 'waiting west a', 'pending', 'pending'],
  ]);
  expect(await places(...inEither)).toEqual([...Array(3).fill('waiting east b'), 'pending']);
  expect(await places(...inEast)).toEqual(['pending', ...rest]);
});

it('a group runs at most as many jobs as its limit', async () => {
  await machine('a', 9);
  const west = await group('west', ['a'], { max_concurrent_jobs: 1 });
  const template = await runs.template();
  const make = () => runs.job(template, { ...prompted(west), allow_simultaneous: true });
  const [first, second] = [await make(), await make()];
  await pass();
  expect(await places(first, second)).toEqual(['waiting west a', 'pending']);
  await runs.set([first], 'successful');
  await pass();
  expect(await places(second)).toEqual(['waiting west a']);
});

it('a group uses at most as many forks as its limit: one for each host, up to the forks', async () => {
  await machine('a', 9);
  const west = await group('west', ['a'], { max_forks: 10 });
  const template = await runs.template();
  const [few, many] = [await runs.inventory(), await runs.inventory()];
  await runs.database.execute(sql`UPDATE inventories SET total_hosts = 2 WHERE id = ${few}`);
  await runs.database.execute(sql`UPDATE inventories SET total_hosts = 900 WHERE id = ${many}`);
  const make = (inventory_id: number, forks: number) =>
    runs.job(template, { ...prompted(west), allow_simultaneous: true, inventory_id, forks });
  const ids = [await make(few, 50), await make(many, 0), await make(few, 1), await make(few, 1)];
  await pass();
  expect((await Promise.all(ids.map((id) => runs.run(id)))).map(({ impact }) => impact)).toEqual([
    ...[3, 6, 2, 2],
  ]);
  expect(await places(...ids)).toEqual([
    ...['waiting west a', 'waiting west a', 'pending', 'pending'],
  ]);
});

it('an instance uses at most its capacity in forks, except for a single larger run', async () => {
  await machine('a', 9, { cpu_capacity: 2, mem_capacity: 12, capacity_adjustment: 0.5 });
  await machine('b', 9, { cpu_capacity: 4, mem_capacity: 4 });
  const template = await runs.template();
  const inventory_id = await runs.inventory();
  await runs.database.execute(sql`UPDATE inventories SET total_hosts = 50`);
  const make = (forks: number) =>
    runs.job(template, { allow_simultaneous: true, inventory_id, forks });
  const [a, b] = ['waiting default a', 'waiting default b'];
  const ids = [await make(4), await make(2), await make(40), await make(1)];
  await pass();
  expect(await places(...ids)).toEqual([a, b, 'pending', 'pending']);
  await runs.set(ids.slice(1, 2), 'successful');
  await pass();
  expect(await places(...ids.slice(2))).toEqual([b, a]);
});

describe('the number of forks of a run', () => {
  it.each([
    ['a job by its hosts', 'job', {}, 4],
    ['a job by its forks', 'job', { forks: 2 }, 3],
    ['a job on a smart inventory, whose hosts are not counted', 'job', { forks: 20 }, 21, 'smart'],
    ['a slice by its share', 'job', { job_slice_count: 3 }, 2],
    ['a callback, which counts as two hosts', 'job', { launch_type: 'callback' }, 3],
    ['a command', 'ad_hoc_command', { forks: 1 }, 2],
    ['an update', 'project_update', {}, 1],
    ['a system job', 'system_job', {}, 5],
  ])('%s', async (_what, type, fields, impact, kind = '') => {
    await machine('a', 9);
    const inventory_id = /^(job|ad_hoc)/.test(type) ? await runs.inventory() : null;
    await runs.database.execute(sql`UPDATE inventories SET total_hosts = 3, kind = ${kind}`);
    const job = await runs.job(null, { type, inventory_id, ...fields });
    await pass();
    expect(await runs.run(job)).toMatchObject({ status: 'waiting', impact });
  });
});

describe('a run with an execution environment', () => {
  const IN_CONTAINER = { environment: JSON.stringify({ name: 'Tools', image: 'x', pull: '' }) };
  const engine = (version: string) =>
    runs.database.execute(sql`UPDATE instances SET container_engine = ${version}`);

  it('waits for an instance of its groups with a container engine, with an explanation', async () => {
    await machine('a', 9);
    await machine('elsewhere', 9, { container_engine: 'podman version 4.3.1' });
    const west = await group('west', ['a']);
    const template = await runs.template({ allow_simultaneous: true });
    const fields = { ...prompted(west), allow_simultaneous: true, created: '2020-01-01' };
    const job = await runs.job(template, { ...fields, ...IN_CONTAINER });
    const plain = await runs.job(template, fields);
    await pass();
    expect(await places(job, plain)).toEqual(['pending', 'waiting west a']);
    await runs.placement.explain();
    expect((await runs.run(job)).job_explanation).toBe(
      'This job is not ready to start because no instance of its groups can run containers: ' +
        'it needs one with Podman or Docker for the execution environment "Tools". ' +
        'Instance groups: west (1 of 1 instances ready, 994 of 1000 forks and 8 of 9 places free).',
    );
    await engine('podman version 4.3.1');
    await pass();
    expect(await places(job)).toEqual(['waiting west a']);
  });

  it('is released if its instance loses the engine before the start', async () => {
    await machine('a', 9, { container_engine: 'podman version 4.3.1' });
    const [job, plain] = [await runs.job(null, IN_CONTAINER), await runs.job(null)];
    await pass();
    expect(await places(job, plain)).toEqual(['waiting default a', 'waiting default a']);
    await engine('');
    await pass();
    expect(await places(job, plain)).toEqual(['pending', 'waiting default a']);
  });

  it('does not delay other runs, even if many wait for an engine', async () => {
    await machine('a', 2);
    for (let count = 0; count < 5; count += 1) await runs.job(null, IN_CONTAINER);
    const plain = await runs.job(null);
    await pass();
    expect(await places(plain)).toEqual(['waiting default a']);
  });
});

describe('a waiting run is released', () => {
  const waitingOnA = async (): Promise<number> => {
    await machine('a', 2);
    const job = await runs.job(await runs.template());
    await pass();
    expect(await places(job)).toEqual(['waiting default a']);
    return job;
  };

  it.each([
    ['disabled', sql`UPDATE instances SET enabled = false`],
    ['gone', sql`DELETE FROM worker_nodes`],
  ])('if its instance is %s, and is assigned to another', async (_how, change) => {
    const job = await waitingOnA();
    await runs.database.execute(change);
    await pass();
    expect(await places(job)).toEqual(['pending']);
    expect(await runs.database.rows(sql`SELECT 1 FROM outbox`)).toEqual([]);
    await machine('b', 1);
    await pass();
    expect(await places(job)).toEqual(['waiting default b']);
  });

  it.each(['default', 'east'])('if its group is deleted, into %s', async (next) => {
    await machine('a', 2);
    const west = await group('west', ['a'], { max_concurrent_jobs: 1 });
    const east = await group('east', ['a']);
    const fields = { ...prompted(west), allow_simultaneous: true };
    const template = await runs.template();
    if (next === 'east') await prefer('job_template', template, east);
    const [placed, pending] = [await runs.job(template, fields), await runs.job(template, fields)];
    await pass();
    expect(await places(placed, pending)).toEqual(['waiting west a', 'pending']);
    await runs.database.execute(sql`DELETE FROM instance_groups WHERE id = ${west}`);
    await pass();
    expect(await places(placed, pending)).toEqual([`waiting ${next} a`, `waiting ${next} a`]);
  });
});

it('policies choose among live machines, and listed machines stay in their group', async () => {
  const [a, b] = [await machine('a', 1), await machine('b', 1)];
  const west = await group('west', ['b'], { policy_instance_minimum: 2 });
  const members = async () =>
    (
      await runs.database.rows<{ instance_id: number }>(sql`
        SELECT instance_id FROM instance_group_instances WHERE instance_group_id = ${west}
        ORDER BY instance_id`)
    ).map(({ instance_id }) => instance_id);
  await pass();
  expect(await members()).toEqual([a, b]);
  await runs.database.execute(sql`DELETE FROM worker_nodes`);
  await pass();
  expect(await members()).toEqual([b]);
});

it('a run that waits for its groups explains its needs and their free capacity', async () => {
  await machine('a', 0);
  await machine('b', 3, { cpu_capacity: 8, mem_capacity: 8 });
  const groups = [
    await group('west', ['a']),
    await group('pods', [], { is_container_group: true }),
    await group('east', ['b'], { max_concurrent_jobs: 3, max_forks: 9 }),
  ];
  const template = await runs.template();
  const fields = { allow_simultaneous: true, forks: 5, created: '2020-01-01' };
  const placed = await runs.job(template, { ...prompted(...groups), ...fields });
  const waits = await runs.job(template, { ...prompted(...groups), ...fields });
  await pass();
  expect(await places(placed, waits)).toEqual(['waiting east b', 'pending']);
  await runs.placement.explain();
  expect((await runs.run(waits)).job_explanation).toBe(
    'This job is not ready to start because there is not enough available capacity. ' +
      'It needs 6 forks on one instance. Instance groups: west (0 of 1 instances ready), ' +
      'pods (a container group: jobs do not run in pods), east (1 of 1 instances ready, ' +
      '2 of 8 forks and 2 of 3 places free; at most 3 jobs and 9 forks at once).',
  );
});

it('the free capacity is updated for the next hundred runs only', async () => {
  await machine('a', 1);
  await runs.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, dependencies_processed, created)
    SELECT 'job', 'many', 'pending', true, '2020-01-01' FROM generate_series(1, 102)`);
  await pass();
  const texts = async (): Promise<unknown[]> => {
    await runs.placement.explain();
    const rows = await runs.database.rows(sql`
      SELECT job_explanation FROM unified_jobs WHERE status = 'pending' ORDER BY id`);
    return [rows[0], rows.at(-1)].map(
      (row) => /\d of 1 places/.exec(`${row?.job_explanation}`)?.[0],
    );
  };
  expect(await texts()).toEqual(['0 of 1 places', '0 of 1 places']);
  await runs.set(await runs.withStatus('waiting'), 'successful');
  expect(await texts()).toEqual(['1 of 1 places', '0 of 1 places']);
});

it('a run with only a container group stays pending, with an explanation', async () => {
  await machine('a', 9);
  const pods = await group('pods', [], { is_container_group: true });
  const job = await runs.job(null, { ...prompted(pods), created: '2020-01-01' });
  await pass();
  await runs.placement.explain();
  expect(await runs.run(job)).toMatchObject({
    status: 'pending',
    job_explanation:
      'This job is not ready to start because there is not enough available capacity. ' +
      'It needs 6 forks on one instance. ' +
      'Instance groups: pods (a container group: jobs do not run in pods).',
  });
});

it('thousands of runs are assigned to eight groups, in order and in short passes', async () => {
  const count = IS_DEEP ? 10_000 : 2000;
  const groups: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    await machine(`m${at}`, 10 + 10 * at);
    groups.push(await group(`g${at}`, [`m${at}`], { max_concurrent_jobs: at % 2 === 0 ? 5 : 0 }));
  }
  const template = await runs.template();
  await runs.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, allow_simultaneous,
      dependencies_processed, preferred_groups)
    SELECT 'job', 'many', 'pending', ${template}, true, true,
      ARRAY[(${groups}::int[])[1 + n % 8]] FROM generate_series(1, ${count}::int) n`);
  const passes: number[] = [];
  // The last pass finds nothing to start.
  for (let more = 2; more > 0;) {
    const started = performance.now();
    if (!(await pass())) more -= 1;
    passes.push(performance.now() - started);
  }
  const rows = await runs.database.rows<{ name: string; runs: number; late: number }>(sql`
    SELECT g.name, count(*)::int AS runs,
      (SELECT count(*)::int FROM unified_jobs early WHERE early.status = 'pending'
        AND early.preferred_groups = ARRAY[g.id] AND early.id < max(run.id)) AS late
    FROM unified_jobs run JOIN instance_groups g ON g.id = run.instance_group_id
    WHERE run.status = 'waiting' GROUP BY g.id, g.name ORDER BY g.name`);
  expect(rows).toEqual(
    groups.map((_id, at) => ({
      ...{ name: `g${at}`, runs: at % 2 === 0 ? 5 : 10 + 10 * at, late: 0 },
    })),
  );
  const texts = passes.map((ms) => ms.toFixed(0)).join(', ');
  process.stdout.write(`    ${count} pending in 8 groups: passes of ${texts} ms\n`);
});
