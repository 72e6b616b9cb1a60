import { Injectable } from '@nestjs/common';
import { SecretBox, UnsealError } from '../../common/crypto/secret-box.js';
import { resultOr } from '../../common/errors/errors.js';
import { failPoint } from '../../common/fail-point.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { artifactsTooLarge } from '../../runs/run-explanations.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import type { JobStatus } from '../../runs/unified-job.entity.js';
import { MAX_INHERITED_BYTES } from '../../workflows/inherited-artifacts.js';
import {
  type GraphNode,
  WorkflowGraphsRepository,
} from '../../workflows/workflow-graphs.repository.js';
import { WorkflowJobsRepository } from '../../workflows/workflow-jobs.repository.js';
import { ApprovalTimeouts } from './approval-timeouts.service.js';
import type { WorkflowSecrets } from '../../launching/node-request.js';
import { NodeRuns } from './node-runs.service.js';
import { decide, startParts, type Decision } from './workflow-graph.js';
import { WorkflowGraphs, type RunningWorkflow } from './workflow-graphs.service.js';
import { secretFiller, secretNamesOf } from '../../workflows/workflow-secrets.js';

/** Maximum number of workflow jobs per pass. A pass that reaches the limit is repeated immediately. */
const BATCH = 50;
/** Key of the engine's advisory lock, unique among the single-key locks of this database. */
const LOCK_KEY = 7404;
const TOO_LARGE = artifactsTooLarge(MAX_INHERITED_BYTES);
const NO_KEY = 'The secret variables of this workflow cannot be decrypted with the current keys.';

interface DecidedWorkflow {
  workflow: RunningWorkflow;
  secrets: WorkflowSecrets | null;
  decision: Decision;
}

/** Returns the nodes to start, whose runs also receive the variables of their workflow. */
function startedBy({ workflow, decision: { start } }: DecidedWorkflow): GraphNode[] {
  const shared = start.length === 0 ? 0 : JSON.stringify(workflow.launch_config).length;
  return start.map((node) => ({ ...node, size: node.size + shared }));
}

interface WorkflowEnd {
  id: number;
  status: JobStatus;
  explanation: string;
}

/**
 * Moves workflow jobs through their graphs: starts workflow jobs, starts nodes that are due, and ends
 * workflow jobs without active nodes. The number of statements of a pass is independent of the number of
 * workflow jobs; nodes with many parents or large variables start in parts, and the artifacts of each nested
 * workflow job are read alone.
 */
@Injectable()
export class WorkflowEngine {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly nodes: WorkflowGraphsRepository,
    private readonly graphs: WorkflowGraphs,
    private readonly runs: NodeRuns,
    private readonly timeouts: ApprovalTimeouts,
  ) {}

  /**
   * Performs one pass, in the caller's transaction. Several workers can call this method at the same time.
   *
   * @returns true if more work is due
   */
  async advance(): Promise<boolean> {
    // The worker that has the lock receives the same wake-ups and performs another pass for them.
    const lock = await this.database.row<{ taken: boolean }>(sql`
      SELECT pg_try_advisory_xact_lock(${LOCK_KEY}) AS taken`);
    if (!lock?.taken) return false;
    await this.timeouts.expire();
    const started = await this.startPending();
    const due = await this.unlocked((except) => this.nodes.due(BATCH, except));
    await this.nodes.follow(due);
    const workflows = await this.graphs.load([...started, ...due]);
    const decided = workflows.map((workflow) => this.decideOn(workflow));
    const canceled = await this.cancelRuns(workflows);
    await this.graphs.end(new Map(decided.flatMap(({ decision }) => [...decision.ended])), true);
    const hasMissing = await this.startNodes(decided);
    await this.end(decided);
    failPoint('workflow-advanced');
    // Canceled runs that are workflows cancel their own runs in the next pass.
    return canceled || hasMissing || started.length === BATCH || due.length === BATCH;
  }

  /** Updates the explanations of workflow jobs that have been pending for a while. */
  explain(): Promise<void> {
    return this.workflowJobs.explain();
  }

  /** @returns workflow jobs that this pass started */
  private async startPending(): Promise<number[]> {
    const ready = await this.unlocked((except) => this.workflowJobs.ready(BATCH, except));
    const moved = await this.transitions.move(ready, {
      from: ['pending'],
      to: 'running',
    });
    return moved.map(({ id }) => id);
  }

  /**
   * Returns workflow jobs whose nodes can start without waiting. A long deletion of a project must not
   * delay the workflows of other projects.
   *
   * @param find returns workflow jobs except some
   */
  private async unlocked(
    find: (except: readonly number[]) => Promise<number[]>,
  ): Promise<number[]> {
    const locked: number[] = [];
    for (;;) {
      const found = await find(locked);
      const further = found.length === 0 ? [] : await this.nodes.locked(found);
      if (further.length === 0) return found;
      locked.push(...further);
    }
  }

  /** Decides on a workflow. A workflow whose secrets cannot be decrypted must not block the others. */
  private decideOn(workflow: RunningWorkflow): DecidedWorkflow {
    const secrets = this.openSecrets(workflow);
    const isCanceled = workflow.cancel_requested || secrets === null;
    return { workflow, secrets, decision: decide({ isCanceled, nodes: workflow.nodes }) };
  }

  private openSecrets({ id, launch_config: config }: RunningWorkflow): WorkflowSecrets | null {
    const open = () => ({ fill: secretFiller(this.box, id, config), names: secretNamesOf(config) });
    return resultOr(open, null, UnsealError);
  }

  /**
   * Cancels the active runs of canceled workflows, including approvals and workflows.
   *
   * @returns true if runs were canceled
   */
  private async cancelRuns(workflows: readonly RunningWorkflow[]): Promise<boolean> {
    const canceled = workflows.filter((workflow) => workflow.cancel_requested);
    if (canceled.length === 0) return false;
    const active = await this.nodes.activeRuns(canceled.map(({ id }) => id));
    return (await this.transitions.cancel(active)).length > 0;
  }

  /** @returns true if nodes have no run, because their template is missing */
  private async startNodes(decided: readonly DecidedWorkflow[]): Promise<boolean> {
    const secrets = new Map(
      decided.flatMap(({ workflow, secrets }) => (secrets ? [[workflow.id, secrets]] : [])),
    );
    const missing: number[] = [];
    for (const part of startParts(decided.flatMap(startedBy))) {
      const ids = part.map(({ id }) => id);
      missing.push(...(await this.runs.start(ids, secrets)));
    }
    await this.graphs.end(new Map(missing.map((id) => [id, 'missing'])), false);
    return missing.length > 0;
  }

  private async end(decided: readonly DecidedWorkflow[]): Promise<void> {
    const ended = decided.flatMap((workflow) => workflowEndOf(workflow) ?? []);
    const unstored = await this.graphs.gatherArtifacts(ended.map(({ id }) => id));
    const ends = ended.map((end) => {
      if (unstored.tooLarge.has(end.id)) return withExplanation(end, TOO_LARGE);
      const isError = unstored.undecryptable.has(end.id) && end.status !== 'canceled';
      return isError ? endWithoutKey(end.id) : end;
    });
    for (const to of ['successful', 'failed', 'canceled', 'error'] as const) {
      await this.transitions.move(
        ends.filter(({ status }) => status === to),
        { from: ['running'], to },
      );
    }
  }
}

const withExplanation = (end: WorkflowEnd, text: string): WorkflowEnd => ({
  ...end,
  explanation: [end.explanation, text].filter(Boolean).join(' '),
});

const endWithoutKey = (id: number): WorkflowEnd => ({ id, status: 'error', explanation: NO_KEY });

function workflowEndOf({ workflow, secrets, decision }: DecidedWorkflow): WorkflowEnd | null {
  const { id, cancel_requested: isCanceled } = workflow;
  if (!decision.end) return null;
  if (secrets === null && !isCanceled) return endWithoutKey(id);
  return { id, ...decision.end };
}
