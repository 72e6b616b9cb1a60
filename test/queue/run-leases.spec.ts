import {
  RunLeasesRepository,
  type LeaseClaim,
  type StaleRun,
} from '../../src/runs/run-leases.repository.js';
import { UnifiedJob } from '../../src/runs/unified-job.entity.js';
import { sql } from '../../src/database/sql.js';
import { interleave } from '../support/interleave.js';
import { RunsDatabase } from './runs-database.js';

/** The leases of workers on runs (docs/contract/operations.md#fencing), on a real database. */
let runs: RunsDatabase;
let leases: RunLeasesRepository;

beforeAll(async () => {
  runs = await RunsDatabase.open();
  leases = new RunLeasesRepository(runs.database.manager.getRepository(UnifiedJob));
});
afterAll(() => runs.close());
beforeEach(() => runs.reset());

/** Adds a run with a lease that ends in some seconds. */
async function leased(holder: string, seconds: number, fields: object = {}): Promise<number> {
  const id = await runs.job(null, {
    ...{ status: 'running', attempt: 2, lease_holder: holder },
    ...fields,
  });
  await runs.database.execute(sql`
    UPDATE unified_jobs SET lease_until = now() + make_interval(secs => ${seconds}) WHERE id = ${id}`);
  return id;
}

const secondsLeft = async (id: number): Promise<number> => {
  const row = await runs.database.row<{ left: number }>(sql`
    SELECT extract(epoch FROM lease_until - now())::float8 AS left FROM unified_jobs WHERE id = ${id}`);
  return row!.left;
};

async function claim(options: Partial<LeaseClaim> = {}): Promise<StaleRun[]> {
  const claimed = await leases.claim({
    ...{ holder: 'here/new', hostPrefix: 'here/', dead: [], except: [], takesExpired: true },
    ...{ graceSeconds: 60, leaseSeconds: 30 },
    ...options,
  });
  return claimed.sort((one, other) => one.id - other.id);
}

it('a lease is renewed by its holder only, and only while the run is running', async () => {
  const held = await leased('here/a', 5);
  const canceled = await leased('here/a', 5, { cancel_requested: true });
  const ended = await leased('here/a', 5, { status: 'failed' });
  const all = [held, canceled, ended];
  expect(
    await leases.renew(
      all.map((id) => ({ id, attempt: 1 })),
      30,
    ),
  ).toEqual([]);
  const renewed = await leases.renew(
    all.map((id) => ({ id, attempt: 2 })),
    30,
  );
  expect(renewed.sort((one, other) => one.id - other.id)).toEqual([
    { id: held, cancel_requested: false },
    { id: canceled, cancel_requested: true },
  ]);
  expect(await secondsLeft(held)).toBeGreaterThan(25);
  expect(await secondsLeft(ended)).toBeLessThan(6);
});

it('a run that a long deletion locks does not cost other runs their leases', async () => {
  const [locked, other] = [await leased('here/a', 5), await leased('here/a', 5)];
  const held = [locked, other].map((id) => ({ id, attempt: 2 }));
  await interleave(runs.database, [
    () => runs.database.rows(sql`SELECT 1 FROM unified_jobs WHERE id = ${locked} FOR UPDATE`),
    async () => expect(await leases.renew(held, 30)).toHaveLength(2),
    async () => expect(await secondsLeft(other)).toBeGreaterThan(25),
  ]);
  expect(await secondsLeft(locked)).toBeGreaterThan(25);
});

it('a canceled run starts no playbook', async () => {
  const id = await leased('here/a', 5, { cancel_requested: true });
  const started = { args: '[]', cwd: '/', revision: '', isolation: 'none', env: '{}' };
  expect(await leases.begin({ id, attempt: 2 }, started)).toBe(false);
});

it('expired leases are taken over, those of other hosts only after a while', async () => {
  const own = await leased('here/own', -1);
  const local = await leased('here/a', -1);
  const remote = await leased('there/a', -1);
  const lost = await leased('there/a', -61);
  await leased('here/b', 5);
  await leased('here/a', -1, { status: 'waiting' });
  await leased('here/a', -1, { type: 'workflow_job' });
  expect(await claim({ takesExpired: false })).toEqual([]);
  expect(await claim({ except: [own] })).toMatchObject([{ id: local }, { id: lost }]);
  expect(await leases.renew([{ id: local, attempt: 2 }], 30)).toEqual([]);
  expect(await leases.isHeld({ id: local, attempt: 3 })).toBe(true);
  expect(await secondsLeft(lost)).toBeGreaterThan(25);
  expect(await leases.isHeld({ id: remote, attempt: 2 })).toBe(true);
});

it('the leases of a dead worker are taken over at once', async () => {
  const dead = await leased('here/dead', 20);
  await leased('here/alive', 20);
  const claimed = await claim({ dead: ['here/dead'], takesExpired: false });
  expect(claimed).toMatchObject([{ id: dead, is_local: true }]);
});

it('only runs that may have acted count as started', async () => {
  const args = { job_args: '["ansible"]' };
  const kinds: [fields: object, hasStarted: boolean][] = [
    [{}, false],
    [args, true],
    [{ ...args, type: 'inventory_update' }, false],
    [{ ...args, type: 'inventory_update', reads_results: true }, true],
  ];
  for (const [fields, hasStarted] of kinds) {
    const id = await leased('here/a', -1, fields);
    expect(await claim()).toMatchObject([
      { id, has_started: hasStarted, old_attempt: 2, attempt: 3 },
    ]);
  }
});
