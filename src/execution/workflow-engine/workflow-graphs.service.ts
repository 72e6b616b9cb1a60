import { exactJson } from '../../common/exact-json.js';
import { Injectable } from '@nestjs/common';
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
    private readonly box: SecretBox,
  ) {}

  /**
   * Returns workflow jobs whose nodes have ended since the last call, and marks them as seen.
   *
   * @param limit maximum number of workflow jobs
   */
  due(limit: number): Promise<number[]> {
    return this.graphs.takeDue(limit);
  }

  /** Returns the running workflow jobs among `ids`, and all with a cancel request. */
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
   * Collects the artifacts of the runs of finished workflow jobs, which a surrounding workflow
   * passes on.
   *
   * @returns workflow jobs with secrets that cannot be opened with the present keys; they pass on
   *   nothing
   */
  async gatherArtifacts(workflowIds: readonly number[]): Promise<Set<number>> {
    const runs = workflowIds.length === 0 ? [] : await this.graphs.runsWithArtifacts(workflowIds);
    const locked = new Set<number>();
    const gathered = [...new Set(runs.map((run) => run.workflow_job_id))].flatMap((id) => {
      const artifacts = artifactsOfRuns(
        this.box,
        runs.filter((run) => run.workflow_job_id === id),
      );
      if (!artifacts) locked.add(id);
      return artifacts ? [{ id, ...artifacts }] : [];
    });
    if (gathered.length > 0) {
      await this.workflowJobs.storeArtifacts(
        gathered.map(({ id, open, secret }) => ({
          id,
          artifacts: exactJson(open),
          secret: sealArtifacts(this.box, 'unified_jobs', id, secret),
        })),
      );
    }
    return locked;
  }
}
