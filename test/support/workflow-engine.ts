import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { Database } from '../../src/database/database.js';
import { Launchers } from '../../src/launching/launchers.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { ApprovalTimeouts } from '../../src/execution/workflow-engine/approval-timeouts.service.js';
import { NodeRuns } from '../../src/execution/workflow-engine/node-runs.service.js';
import { WorkflowEngine } from '../../src/execution/workflow-engine/workflow-engine.js';
import { WorkflowGraphs } from '../../src/execution/workflow-engine/workflow-graphs.service.js';
import { WorkflowGraphsRepository } from '../../src/workflows/workflow-graphs.repository.js';
import { WorkflowJobsRepository } from '../../src/workflows/workflow-jobs.repository.js';
import type { TestApp } from './boot.js';

/** Returns the engine of a worker, which executes one pass with every call. */
export function workflowEngine({ app, database }: TestApp): {
  advance: () => Promise<boolean>;
  explain: () => Promise<void>;
} {
  const db = app.get(Database);
  const find = <T>(token: abstract new (...args: never[]) => T): T =>
    app.get<T>(token as never, { strict: false });
  const transitions = find(RunTransitions);
  const box = find(SecretBox);
  const workflowJobs = find(WorkflowJobsRepository);
  const nodes = find(WorkflowGraphsRepository);
  const engine = new WorkflowEngine(
    db,
    box,
    transitions,
    workflowJobs,
    nodes,
    new WorkflowGraphs(nodes, workflowJobs, box),
    new NodeRuns(nodes, workflowJobs, transitions, find(Launchers), box),
    new ApprovalTimeouts(workflowJobs, transitions),
  );
  return {
    advance: () => database.transaction(() => engine.advance()),
    explain: () => engine.explain(),
  };
}
