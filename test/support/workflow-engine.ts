import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { Database } from '../../src/database/database.js';
import { LaunchService } from '../../src/launching/launch.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { ApprovalTimeouts } from '../../src/execution/workflow-engine/approval-timeouts.js';
import { WorkflowLaunchService } from '../../src/launching/workflow-launch.service.js';
import { NodeRuns } from '../../src/execution/workflow-engine/node-runs.js';
import { WorkflowEngine } from '../../src/execution/workflow-engine/workflow-engine.js';
import { WorkflowQueue } from '../../src/execution/workflow-engine/workflow-queue.js';
import { WorkflowGraphs } from '../../src/execution/workflow-engine/workflow-graphs.js';
import type { TestApp } from './boot.js';

/** The engine as a worker has it, moved by hand: one pass with every call. */
export function workflowEngine({ app, database }: TestApp): {
  advance: () => Promise<boolean>;
  explain: () => Promise<void>;
} {
  const db = app.get(Database);
  const transitions = app.get(RunTransitions, { strict: false });
  const box = app.get(SecretBox, { strict: false });
  const engine = new WorkflowEngine(
    db,
    box,
    transitions,
    new WorkflowQueue(db),
    new WorkflowGraphs(db, box),
    new NodeRuns(
      db,
      transitions,
      app.get(LaunchService, { strict: false }),
      app.get(WorkflowLaunchService, { strict: false }),
      box,
    ),
    new ApprovalTimeouts(db, transitions),
  );
  return {
    advance: () => database.transaction(() => engine.advance()),
    explain: () => engine.explain(),
  };
}
