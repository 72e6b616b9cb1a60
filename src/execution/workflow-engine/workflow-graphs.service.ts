import { Injectable } from '@nestjs/common';
import { exactJson } from '../../common/exact-json.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { entryOf } from '../../common/invariants.js';
import { sealArtifacts } from '../../runs/workflow-artifacts.js';
import { artifactsOfRuns } from '../../workflows/inherited-artifacts.js';
import {
  WorkflowGraphsRepository,
  type GraphNode,
} from '../../workflows/workflow-graphs.repository.js';
import {
  type RunningWorkflowJob,
  WorkflowJobsRepository,
} from '../../workflows/workflow-jobs.repository.js';
import type { Decision } from './workflow-graph.js';

/** An active workflow job with its nodes. */
export interface RunningWorkflow extends RunningWorkflowJob {
  nodes: GraphNode[];
}

/** Reads the graphs of running workflow jobs and stores the decisions about their nodes. */
@Injectable()
export class WorkflowGraphs {
  constructor(
    private readonly graphs: WorkflowGraphsRepository,
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly secretBox: SecretBox,
  ) {}

  /** Returns the running workflow jobs among `ids`, and all running workflow jobs with a cancel request. */
  async load(ids: readonly number[]): Promise<RunningWorkflow[]> {
    const workflows = await this.workflowJobs.running(ids);
    if (workflows.length === 0) return [];
    const byId = new Map(
      workflows.map((workflow): [number, RunningWorkflow] => [
        workflow.id,
        { ...workflow, nodes: [] },
      ]),
    );
    for (const node of await this.graphs.nodes([...byId.keys()])) {
      entryOf(byId, node.workflowJobId).nodes.push(node);
    }
    return [...byId.values()];
  }

  /**
   * Stores the end of nodes that have no run.
   *
   * @param followed true if the consequences for their child nodes are already decided
   */
  async end(ended: Decision['ended'], followed: boolean): Promise<void> {
    if (ended.size > 0) await this.graphs.end(ended, followed);
  }

  /**
   * Stores the artifacts of the runs of finished workflow jobs, so that the parent workflow can pass the
   * artifacts on.
   *
   * @returns ids of workflow jobs whose secret artifacts cannot be decrypted with the current keys; their
   *   artifacts are not stored
   */
  async gatherArtifacts(workflowIds: readonly number[]): Promise<Set<number>> {
    const runs = workflowIds.length === 0 ? [] : await this.graphs.runsWithArtifacts(workflowIds);
    const undecryptable = new Set<number>();
    const gathered = [...new Set(runs.map((run) => run.workflow_job_id))].flatMap((id) => {
      const artifacts = artifactsOfRuns(
        this.secretBox,
        runs.filter((run) => run.workflow_job_id === id),
      );
      if (!artifacts) undecryptable.add(id);
      return artifacts ? [{ id, ...artifacts }] : [];
    });
    if (gathered.length > 0) {
      await this.workflowJobs.storeArtifacts(
        gathered.map(({ id, open, secret }) => ({
          id,
          artifacts: exactJson(open),
          secret: sealArtifacts(this.secretBox, 'unified_jobs', id, secret),
        })),
      );
    }
    return undecryptable;
  }
}
