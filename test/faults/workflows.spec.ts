/**
 * Budget: 30 s, because five workers start, and all but two of them are killed.
 */
import fc from 'fast-check';

import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { endOf, workflows, type Ending, type PlannedNode } from '../support/workflow-model.js';
import { Cluster } from './support/cluster.js';
import { printFigures } from './support/figures.js';
import type { Program } from './support/processes.js';

const WORKFLOWS = 25;
const KILLS = IS_DEEP ? 3 : 2;
const FINAL = ['successful', 'failed', 'error', 'canceled'];

interface NodeRow {
  workflow_job_id: number;
  place: number;
  outcome: string;
  do_not_run: boolean;
  job_id: number | null;
  job_status: string | null;
  workflow_status: string;
}

/**
 * Workers are killed while they execute workflows. Their running jobs fail, which is one more way for a node
 * to end. The workflows must continue from there as the model predicts.
 */
describe('workflows whose workers are killed', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0.3, concurrency: 4 });
  });

  afterAll(() => cluster.stop());

  /** Writes the rows a launch writes. @returns id of the workflow job */
  async function addWorkflow(plan: readonly PlannedNode[]): Promise<number> {
    const [workflow] = await cluster.rows<{ id: number }>(`
      INSERT INTO unified_jobs (type, name, status, launch_type, organization_id, extra_vars,
        launch_config, allow_simultaneous, is_bulk_job)
      VALUES ('workflow_job', 'Random', 'pending', 'manual', 1, '{}', '{}', true, false)
      RETURNING id`);
    const nodes = await cluster.rows<{ id: number }>(
      `INSERT INTO workflow_job_nodes (workflow_job_id, identifier, unified_job_template_id,
         all_parents_must_converge)
       SELECT $1, 'n' || (place - 1), template_id, must_converge
       FROM unnest($2::int[], $3::boolean[]) WITH ORDINALITY
         AS given (template_id, must_converge, place)
       ORDER BY place RETURNING id`,
      [
        workflow!.id,
        plan.map(({ ending }) => (ending === 'missing' ? null : 2)),
        plan.map(({ mustConverge }) => mustConverge),
      ],
    );
    const edges = plan.flatMap(({ parents }, place) =>
      parents.map((edge) => [nodes[edge.place]!.id, nodes[place]!.id, edge.kind] as const),
    );
    await cluster.rows(
      `INSERT INTO workflow_job_node_edges (parent_id, child_id, kind)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])`,
      [0, 1, 2].map((column) => edges.map((edge) => edge[column])),
    );
    return workflow!.id;
  }

  const nodesOf = (ids: readonly number[]) =>
    cluster.rows<NodeRow>(
      `SELECT node.workflow_job_id, substr(node.identifier, 2)::int AS place, node.outcome,
         node.do_not_run, node.job_id, run.status AS job_status, workflow.status AS workflow_status
       FROM workflow_job_nodes node
       JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
       LEFT JOIN unified_jobs run ON run.id = node.job_id
       WHERE node.workflow_job_id = ANY($1) ORDER BY node.id`,
      [ids],
    );

  /** Returns the number of workflow jobs that have not ended. */
  async function open(ids: readonly number[]): Promise<number> {
    const [row] = await cluster.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM unified_jobs WHERE id = ANY($1) AND status <> ALL($2)`,
      [ids, FINAL],
    );
    return row!.count;
  }

  it('end by the results of their jobs, none of which runs twice', async () => {
    const seed = jest.getSeed();
    const plans = fc.sample(workflows(7), { numRuns: WORKFLOWS, seed });
    const ids: number[] = [];
    for (const plan of plans) ids.push(await addWorkflow(plan));
    // The first worker is killed during its first pass.
    const broken = await cluster.worker({ FAIL_POINT: 'workflow-advanced' }).catch(() => null);
    if (broken) expect(await broken.ended).toBe('SIGKILL');
    expect(await open(ids)).toBe(WORKFLOWS);

    const workers: Program[] = await Promise.all([cluster.worker(), cluster.worker()]);
    cluster.wake();
    let kills = 0;
    for (; kills < KILLS && (await open(ids)) > 0; kills += 1) {
      const before = await open(ids);
      await eventually(async () => {
        const left = await open(ids);
        if (left === before && left > 0) throw new Error('nothing has ended since the last kill');
      }, 30_000);
      const victim = workers.shift()!;
      victim.child.kill('SIGKILL');
      await victim.ended;
      workers.push(await cluster.worker());
    }
    await eventually(async () => expect(await open(ids)).toBe(0), 120_000);

    const nodes = await nodesOf(ids);
    const faults = ids.filter((id, index) => {
      const own = nodes.filter((node) => node.workflow_job_id === id);
      // Jobs of killed workers have failed; the others ended as planned.
      const became = plans[index]!.map((node, place): PlannedNode => {
        const { job_status: status } = own[place]!;
        return { ...node, ending: (status ?? node.ending) as Ending };
      });
      const expected = endOf(became);
      return (
        own[0]!.workflow_status !== expected.status ||
        own.some(
          ({ place, outcome, do_not_run: isSkipped, job_id: job }) =>
            outcome !== expected.outcomes[place] ||
            isSkipped !== (outcome === 'skipped') ||
            (job === null) !== ['skipped', 'missing'].includes(outcome),
        )
      );
    });
    expect({ seed, faults }).toEqual({ seed, faults: [] });

    const jobs = nodes.flatMap(({ job_id: id }) => id ?? []);
    const [made] = await cluster.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM unified_jobs WHERE type = 'job'`,
    );
    const ledger = await cluster.ledger();
    const figures = {
      accepted: nodes.length,
      finished: nodes.filter(({ outcome }) => outcome !== '').length,
      lost: nodes.filter(({ outcome }) => outcome === '').length,
      doubled: made!.count - jobs.length + jobs.filter((id) => (ledger.get(id) ?? 0) > 1).length,
    };
    printFigures(`nodes of ${WORKFLOWS} workflows, ${kills + 1} workers killed`, figures);
    expect(figures).toMatchObject({ lost: 0, doubled: 0 });
    expect(kills).toBeGreaterThan(0);
    const ran = nodes.filter(({ job_status: status }) => status === 'successful');
    expect(ran.every(({ job_id: id }) => ledger.get(id!) === 1)).toBe(true);
  });
});
