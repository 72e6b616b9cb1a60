import { Injectable } from '@nestjs/common';
import { exactJson } from '../../common/exact-json.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { entryOf } from '../../common/invariants.js';
import { sealArtifacts } from '../../runs/workflow-artifacts.js';
import { artifactsOfRuns, isTooLarge } from '../../workflows/inherited-artifacts.js';
import {
  MAX_READ_BYTES,
  WorkflowGraphsRepository,
  type GraphNode,
} from '../../workflows/workflow-graphs.repository.js';
import {
  type RunningWorkflowJob,
  type StoredArtifacts,
  WorkflowJobsRepository,
} from '../../workflows/workflow-jobs.repository.js';
import type { Decision } from './workflow-graph.js';

/** An active workflow job with its nodes. */
export interface RunningWorkflow extends RunningWorkflowJob {
  nodes: GraphNode[];
}

/** Workflow jobs whose artifacts are not stored, by reason. */
interface UnstoredArtifacts {
  tooLarge: ReadonlySet<number>;
  undecryptable: ReadonlySet<number>;
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
   * artifacts on. They are read for one workflow job at a time, because together they can be very large.
   *
   * @returns workflow jobs whose artifacts are not stored: they are too large, or secret artifacts cannot
   *   be decrypted with the current keys
   */
  async gatherArtifacts(workflowIds: readonly number[]): Promise<UnstoredArtifacts> {
    const sizes = workflowIds.length === 0 ? [] : await this.graphs.artifactSizes(workflowIds);
    const unstored = { tooLarge: new Set<number>(), undecryptable: new Set<number>() };
    const gathered: StoredArtifacts[] = [];
    for (const { id, bytes } of sizes) {
      if (bytes > MAX_READ_BYTES) {
        unstored.tooLarge.add(id);
        continue;
      }
      const artifacts = artifactsOfRuns(this.secretBox, await this.graphs.runsWithArtifacts(id));
      if (!artifacts) unstored.undecryptable.add(id);
      else if (isTooLarge(artifacts)) unstored.tooLarge.add(id);
      else {
        const secret = sealArtifacts(this.secretBox, 'unified_jobs', id, artifacts.secret);
        gathered.push({ id, artifacts: exactJson(artifacts.open), secret });
      }
    }
    if (gathered.length > 0) await this.workflowJobs.storeArtifacts(gathered);
    return unstored;
  }
}
