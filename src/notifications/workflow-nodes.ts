import type { WorkflowNodeFacts } from './message/run-facts.js';

/** A node, and the workflow job (`run`) it is of. */
export interface NodeOfWorkflow extends WorkflowNodeFacts {
  readonly run: number;
}

/** What messages say of the nodes of workflow jobs, a room above, which implements it. */
export abstract class WorkflowNodes {
  /** The nodes of some workflow jobs in order of id. */
  abstract nodesOf(runs: readonly number[]): Promise<NodeOfWorkflow[]>;
}
