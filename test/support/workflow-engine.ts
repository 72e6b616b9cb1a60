import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { Database } from '../../src/database/database.js';
import { LaunchService } from '../../src/jobs/launch.service.js';
import { RunTransitions } from '../../src/jobs/transitions.js';
import { ApprovalTimeouts } from '../../src/workflows/approval-timeouts.js';
import { NestedLaunches } from '../../src/workflows/nested-launches.js';
import { NodeRuns } from '../../src/workflows/node-runs.js';
import { WorkflowEngine } from '../../src/workflows/workflow-engine.js';
import { WorkflowQueue } from '../../src/workflows/workflow-queue.js';
import { WorkflowGraphs } from '../../src/workflows/workflow-graphs.js';
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
      app.get(NestedLaunches, { strict: false }),
      box,
    ),
    new ApprovalTimeouts(db, transitions),
  );
  return {
    advance: () => database.transaction(() => engine.advance()),
    explain: () => engine.explain(),
  };
}
