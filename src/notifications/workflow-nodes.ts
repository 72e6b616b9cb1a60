import type { WorkflowNodeFacts } from './message/run-facts.js';

/** A node with its workflow job (`run`). */
export interface NodeOfWorkflow extends WorkflowNodeFacts {
  readonly run: number;
}

/** Nodes of workflow jobs in messages; implemented by the feature `workflows`. */
export abstract class WorkflowNodes {
  /** Returns the nodes of some workflow jobs in order of id. */
  abstract nodesOf(runs: readonly number[]): Promise<NodeOfWorkflow[]>;
}
