/** Random workflows in the engine and PostgreSQL end as the model of workflow-model.ts predicts. */
import fc from 'fast-check';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { WorkflowRows, type NewWorkflowJob } from '../../src/workflows/workflow-rows.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import { countQueries } from '../support/queries.js';
import { workflowEngine } from '../support/workflow-engine.js';
import { endOf, workflows, type Ending, type PlannedNode } from '../support/workflow-model.js';

const ENDINGS = ['successful', 'failed', 'error', 'canceled'] as const;

let test: TestApp;
let advance: () => Promise<boolean>;
let transitions: RunTransitions;
let template: Row;

beforeAll(async () => {
  test = await boot();
  ({ advance } = workflowEngine(test));
  transitions = test.app.get(RunTransitions, { strict: false });
  template = await test.make.jobTemplate({ allow_simultaneous: true });
});
afterAll(() => test.close());

const jobOf = (plan: readonly PlannedNode[], launched = template): NewWorkflowJob => ({
  name: 'Random',
  description: '',
  templateId: null,
  isBulk: false,
  allowSimultaneous: true,
  organizationId: null,
  createdBy: test.as.users.superuser.id,
  launchType: 'manual',
  prompts: {},
  secrets: [],
  nodes: plan.map(({ ending, mustConverge, parents }, place) => ({
    identifier: `n${place}`,
    templateId: ending === 'missing' ? null : launched.id,
    prompts: {},
    secrets: [],
    parents: parents.map((edge) => ({ identifier: `n${edge.place}`, kind: edge.kind })),
    allParentsMustConverge: mustConverge,
  })),
});

async function launch(plans: readonly PlannedNode[][], launched = template): Promise<number[]> {
  const rows = test.app.get(WorkflowRows, { strict: false });
  const jobs = plans.map((plan) => jobOf(plan, launched));
  const written = await test.database.transaction(() => rows.write(jobs));
  return written.map(({ id }) => id);
}

interface NodeRow extends Row {
  workflow_job_id: number;
  place: number;
  outcome: string;
  do_not_run: boolean;
  job_id: number | null;
  job_status: string | null;
}

const nodesOf = (ids: readonly number[]): Promise<NodeRow[]> =>
  test.database.rows<NodeRow>(sql`
    SELECT node.id, node.workflow_job_id, substr(node.identifier, 2)::int AS place, node.outcome,
      node.do_not_run, node.job_id, run.status AS job_status
    FROM workflow_job_nodes node LEFT JOIN unified_jobs run ON run.id = node.job_id
    WHERE node.workflow_job_id = ANY(${ids}::bigint[]) ORDER BY node.id`);

const jobsOf = (ids: readonly number[]): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT id, status, cancel_requested, job_explanation FROM unified_jobs
    WHERE id = ANY(${ids}::bigint[]) ORDER BY id`);

/** Ends about half of the active runs with their planned status, those of canceled workflows too. */
async function endSome(
  ids: readonly number[],
  endingOf: (node: NodeRow) => Ending,
  random: () => number,
): Promise<number> {
  const active = (await nodesOf(ids)).filter((node) => node.job_status === 'pending');
  const chosen = active.filter((_, index) => index === 0 || random() < 0.5);
  for (const to of ENDINGS) {
    const own = chosen.filter((node) => endingOf(node) === to).map((node) => node.job_id!);
    await transitions.move(own, { from: ['pending'], to });
  }
  return active.length;
}

/** Returns a sequence determined by a seed, so that a fault can be reproduced. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Returns the number of runs that workflows have launched. */
async function countRuns(): Promise<number> {
  const row = await test.database.row<{ runs: number }>(sql`
    SELECT count(*)::int AS runs FROM unified_jobs WHERE launch_type = 'workflow'`);
  return row!.runs;
}

it('hundreds of simultaneous workflows end as in the model', async () => {
  const seed = jest.getSeed();
  const random = randomFrom(seed);
  const plans = fc.sample(workflows(9), { numRuns: 300, seed });
  const runsBefore = await countRuns();
  const ids = await launch(plans);
  const planOf = new Map(ids.map((id, index) => [id, plans[index]!]));
  const canceled = new Set<number>();
  const endingOf = (node: NodeRow) => planOf.get(node.workflow_job_id)![node.place]!.ending;
  for (let round = 0; ; round += 1) {
    if (round > 200) throw new Error(`No end in sight, seed ${seed}`);
    // Several workers advance the workflow concurrently.
    const more = await Promise.all([advance(), advance()]);
    const left = await endSome(ids, endingOf, random);
    if (round === 2) {
      for (const id of ids.filter(() => random() < 0.2)) {
        if ((await transitions.cancel([id])).length > 0) canceled.add(id);
      }
    }
    const open = (await jobsOf(ids)).filter(({ status }) =>
      ['pending', 'running'].includes(String(status)),
    );
    if (!more.includes(true) && left === 0 && open.length === 0) break;
  }
  const jobs = new Map((await jobsOf(ids)).map((job) => [job.id, job]));
  const nodes = await nodesOf(ids);
  const faults = ids.filter((id) => {
    const own = nodes.filter((node) => node.workflow_job_id === id);
    const isLegal = own.every(isEnded);
    if (canceled.has(id)) return !isLegal || jobs.get(id)!.status !== 'canceled';
    const expected = endOf(planOf.get(id)!);
    return (
      !isLegal ||
      jobs.get(id)!.status !== expected.status ||
      own.some((node) => node.outcome !== expected.outcomes[node.place])
    );
  });
  expect({ seed, faults }).toEqual({ seed, faults: [] });
  expect(canceled.size).toBeGreaterThan(0);
  // Every node has its own run, and every run belongs to a node.
  const runs = nodes.flatMap(({ job_id: id }) => id ?? []);
  const launched = (await countRuns()) - runsBefore;
  expect([new Set(runs).size, launched]).toEqual([runs.length, runs.length]);
});

/** Returns true for a state of a node that is valid after the end of its workflow job. */
function isEnded({
  outcome,
  do_not_run: isSkipped,
  job_id: run,
  job_status: status,
}: NodeRow): boolean {
  if (isSkipped !== (outcome === 'skipped')) return false;
  return run === null ? ['skipped', 'missing'].includes(outcome) : outcome === status;
}

const chain: PlannedNode[] = Array.from({ length: 4 }, (_, place) => ({
  ending: 'successful',
  mustConverge: false,
  parents: place === 0 ? [] : [{ place: place - 1, kind: 'success' }],
}));

/** Returns the number of statements of each pass until all chains have ended. */
async function statements(count: number): Promise<number[]> {
  const ids = await launch(Array.from({ length: count }, () => chain));
  const counts: number[] = [];
  for (let pass = 0; pass <= chain.length; pass += 1) {
    counts.push(await countQueries(test.database, advance));
    await endSome(
      ids,
      () => 'successful',
      () => 0,
    );
  }
  expect((await jobsOf(ids)).every(({ status }) => status === 'successful')).toBe(true);
  return counts;
}

it('a pass over forty workflows needs as many statements as one', async () => {
  await advance();
  expect(await statements(40)).toEqual(await statements(1));
});

it('workflows whose project is locked by a long deletion do not delay others', async () => {
  const { database, make } = test;
  const project = await make.project();
  const locked = await make.jobTemplate({ project: project.id, allow_simultaneous: true });
  // One is waiting for its second node, and more are pending than fit into a pass.
  const begun = await launch([chain], locked);
  await advance();
  await endSome(
    begun,
    () => 'successful',
    () => 0,
  );
  const waiting = await launch(
    Array.from({ length: 60 }, () => chain),
    locked,
  );
  const free = await launch([chain]);
  const runsOf = async (ids: readonly number[]): Promise<number> =>
    (await nodesOf(ids)).filter(({ job_id: run }) => run !== null).length;
  await interleave(database, [
    () =>
      database.rows(sql`SELECT 1 FROM unified_job_templates WHERE id = ${project.id} FOR UPDATE`),
    advance,
    async () => expect([await runsOf(free), await runsOf([...begun, ...waiting])]).toEqual([1, 1]),
  ]);
  expect([await runsOf(begun), await runsOf(waiting)]).toEqual([1, 0]);
  while (await advance());
  expect([await runsOf(begun), await runsOf(waiting)]).toEqual([2, 60]);
});
