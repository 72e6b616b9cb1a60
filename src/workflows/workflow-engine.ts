import { Injectable } from '@nestjs/common';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import type { FieldErrors } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { LaunchRequest } from '../jobs/launch-request.js';
import { LaunchService } from '../jobs/launch.service.js';
import { insertProjectUpdates } from '../jobs/project-update-rows.js';
import { WorkflowStep } from '../jobs/scheduler/workflow-step.js';
import { RunTransitions, type NewRun } from '../jobs/transitions.js';
import type { JobStatus } from '../jobs/unified-job.schema.js';
import type { Prompts } from '../templates/launch-config.js';
import { secretFiller } from './workflow-secrets.js';

/** Workflow jobs started in one pass; the next pass follows at once when there were as many. */
const BATCH = 20;
const MARKED_AS_FAILED = 'No error handling paths found, marking workflow as failed';
const LOCKED = 'The secret variables of this workflow cannot be opened with the present keys.';
const COULD_NOT_START = 'Job spawned from workflow could not start because';

interface PendingWorkflow extends Row {
  launch_config: object | null;
}

interface PendingNode extends Row {
  workflow_job_id: number;
  unified_job_template_id: number | null;
  template_type: string | null;
  identifier: string;
  prompts: Prompts;
  created_by_id: number | null;
}

interface Outcome {
  id: number;
  cancel_requested: boolean;
  /** Nodes whose run ended badly or could not start. */
  failed: string[];
}

/** Starts the nodes of workflow jobs, and ends a workflow job when all of them are over. */
@Injectable()
export class WorkflowEngine extends WorkflowStep {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly launches: LaunchService,
  ) {
    super();
  }

  async advance(): Promise<boolean> {
    const isMore = await this.start();
    await this.cancelChildren();
    await this.finish();
    return isMore;
  }

  /** Nodes of a bulk launch have no edges: all of them start at once. */
  private async start(): Promise<boolean> {
    const pending = await this.database.rows<PendingWorkflow>(sql`
      SELECT id, launch_config FROM unified_jobs
      WHERE type = 'workflow_job' AND status = 'pending' ORDER BY id LIMIT ${BATCH}
      FOR NO KEY UPDATE`);
    if (pending.length === 0) return false;
    const fillers = new Map<number, ReturnType<typeof secretFiller>>();
    for (const job of pending) {
      const filler = this.openSecrets(job);
      if (filler) fillers.set(job.id, filler);
    }
    const nodes = await this.pendingNodes([...fillers.keys()]);
    const faults: string[][] = nodes.map(() => []);
    const runs = await this.spawn(
      nodes.map((node) => ({
        ...node,
        prompts: fillers.get(node.workflow_job_id)!(node.identifier, node.prompts),
      })),
      faults,
    );
    await this.database.execute(sql`
      UPDATE workflow_job_nodes SET job_id = given.job_id, modified = now()
      FROM unnest(${nodes.map(({ id }) => id)}::int[], ${runs}::int[]) AS given (id, job_id)
      WHERE workflow_job_nodes.id = given.id`);
    const steps = [...fillers.keys()].map((id) => {
      const own = faults.filter((_, index) => nodes[index]!.workflow_job_id === id);
      return { id, explanation: own.flat().join(' ') };
    });
    await this.transitions.move(steps, { from: ['pending'], to: 'running' });
    const locked = pending.filter(({ id }) => !fillers.has(id));
    await this.transitions.move(
      locked.map(({ id }) => ({ id, explanation: LOCKED })),
      { from: ['pending'], to: 'error' },
    );
    return pending.length === BATCH;
  }

  /** One workflow whose secrets cannot be opened must not keep the others from starting. */
  private openSecrets(job: PendingWorkflow): ReturnType<typeof secretFiller> | null {
    try {
      return secretFiller(this.box, job.id, job.launch_config);
    } catch (error) {
      if (error instanceof UnsealError) return null;
      throw error;
    }
  }

  private pendingNodes(workflowJobIds: readonly number[]): Promise<PendingNode[]> {
    return this.database.rows<PendingNode>(sql`
      SELECT node.id, node.workflow_job_id, node.unified_job_template_id, node.identifier,
        node.prompts, tpl.type AS template_type, workflow.created_by_id
      FROM workflow_job_nodes node
      JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
      LEFT JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
      WHERE node.workflow_job_id = ANY(${workflowJobIds}::int[]) ORDER BY node.id`);
  }

  /**
   * Creates the runs of nodes, all in a constant number of statements.
   *
   * @param faults told, by node, why a run could not be made
   * @returns ids of the runs by node; null where there is none
   */
  private async spawn(
    nodes: readonly PendingNode[],
    faults: readonly string[][],
  ): Promise<(number | null)[]> {
    const runs: (number | null)[] = nodes.map(() => null);
    const of = (type: string): number[] =>
      nodes.flatMap((node, index) => (node.template_type === type ? [index] : []));
    const jobs = of('job_template');
    const requests = jobs.map((index) => requestOf(nodes[index]!));
    const checks = await this.launches.check(requests, null);
    const isReady = checks.map(({ errors }) => Object.keys(errors).length === 0);
    jobs.forEach((index, at) => {
      if (!isReady[at]) faults[index]!.push(explain(nodes[index]!, checks[at]!.errors));
    });
    const { jobIds } = await this.launches.launch(
      requests.filter((_, at) => isReady[at]),
      null,
    );
    jobs.filter((_, at) => isReady[at]).forEach((index, at) => (runs[index] = jobIds[at]!));
    await this.spawnUpdates(nodes, of('project'), runs);
    nodes.forEach((node, index) => {
      if (runs[index] !== null || faults[index]!.length > 0) return;
      faults[index]!.push(`Node ${node.identifier}: ${COULD_NOT_START} its template is missing.`);
    });
    return runs;
  }

  private async spawnUpdates(
    nodes: readonly PendingNode[],
    indexes: readonly number[],
    runs: (number | null)[],
  ): Promise<void> {
    const authors = new Set(indexes.map((index) => nodes[index]!.created_by_id));
    for (const createdBy of authors) {
      const own = indexes.filter((index) => nodes[index]!.created_by_id === createdBy);
      const made = await this.database.rows<NewRun>(
        insertProjectUpdates(
          own.map((index) => nodes[index]!.unified_job_template_id!),
          { launchType: 'workflow', status: 'pending', createdBy },
        ),
      );
      await this.transitions.created(made);
      for (const index of own) {
        const templateId = nodes[index]!.unified_job_template_id;
        const at = made.findIndex((run) => run.unified_job_template_id === templateId);
        if (at >= 0) runs[index] = made.splice(at, 1)[0]!.id;
      }
    }
  }

  /** Whoever cancels a workflow cancels its runs. */
  private async cancelChildren(): Promise<void> {
    const active = await this.database.rows<{ id: number }>(sql`
      SELECT job.id FROM unified_jobs workflow
      JOIN workflow_job_nodes node ON node.workflow_job_id = workflow.id
      JOIN unified_jobs job ON job.id = node.job_id
      WHERE workflow.type = 'workflow_job' AND workflow.status = 'running'
        AND workflow.cancel_requested AND NOT job.cancel_requested
        AND job.status IN ('new', 'pending', 'waiting', 'running')`);
    if (active.length > 0) await this.transitions.cancel(active.map(({ id }) => id));
  }

  private async finish(): Promise<void> {
    const over = await this.database.rows<Outcome>(sql`
      SELECT workflow.id, workflow.cancel_requested,
        coalesce(array_agg(node.identifier ORDER BY node.id)
          FILTER (WHERE job.status IS DISTINCT FROM 'successful'), '{}') AS failed
      FROM unified_jobs workflow
      LEFT JOIN workflow_job_nodes node ON node.workflow_job_id = workflow.id
      LEFT JOIN unified_jobs job ON job.id = node.job_id
      WHERE workflow.type = 'workflow_job' AND workflow.status = 'running'
      GROUP BY workflow.id
      HAVING NOT coalesce(bool_or(job.status IN ('new', 'pending', 'waiting', 'running')), false)`);
    for (const to of ['successful', 'failed', 'canceled'] as const) {
      const own = over.filter((outcome) => endOf(outcome) === to);
      await this.transitions.move(
        own.map(({ id, failed }) => ({
          id,
          explanation: to === 'failed' ? `${MARKED_AS_FAILED}: ${failed.join(', ')}` : '',
        })),
        { from: ['running'], to },
      );
    }
  }
}

function endOf({ cancel_requested, failed }: Outcome): JobStatus {
  if (cancel_requested) return 'canceled';
  return failed.length > 0 ? 'failed' : 'successful';
}

const requestOf = (node: PendingNode): LaunchRequest => ({
  templateId: node.unified_job_template_id!,
  launchType: 'workflow',
  prompts: node.prompts,
  createdBy: node.created_by_id,
});

/** Why the run of a node could not be made, in the words of a launch. */
function explain({ identifier }: PendingNode, errors: FieldErrors): string {
  const texts = Object.values(errors).flat().map(String);
  return `Node ${identifier}: ${COULD_NOT_START} of this: ${texts.join(' ')}`;
}
