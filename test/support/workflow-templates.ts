import { SecretBox } from '../../src/common/crypto/secret-box.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { sealArtifacts } from '../../src/runs/workflow-artifacts.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import type { EdgeKind } from '../../src/workflows/workflow-rows.service.js';
import type { TestApp } from './boot.js';
import { workflowEngine } from './workflow-engine.js';

/** Fields of a node by its identifier; `approval` makes it wait for a decision. */
export type Nodes = Record<string, { approval?: { timeout?: number }; [field: string]: unknown }>;
export type Edge = [parent: string, kind: EdgeKind, child: string];

/** Workflows as users create and launch them, executed step by step without a worker. */
export class WorkflowRuns {
  readonly advance: () => Promise<boolean>;
  /** Explains pending runs, as the scheduler does at intervals. */
  readonly explain: () => Promise<void>;
  private readonly transitions: RunTransitions;

  constructor(private readonly test: TestApp) {
    ({ advance: this.advance, explain: this.explain } = workflowEngine(test));
    this.transitions = test.app.get(RunTransitions, { strict: false });
  }

  async template(nodes: Nodes, edges: readonly Edge[] = [], fields: object = {}): Promise<Row> {
    const { make, home, as } = this.test;
    const workflow = await make.workflowTemplate({ organization: home.organization.id, ...fields });
    const ids = new Map<string, number>();
    for (const [identifier, { approval, ...nodeFields }] of Object.entries(nodes)) {
      const node = await make.workflowNode(workflow, { identifier, ...nodeFields });
      ids.set(identifier, node.id);
      if (!approval) continue;
      await as.superuser
        .post(`workflow_job_template_nodes/${node.id}/create_approval_template/`, {
          name: identifier,
          ...approval,
        })
        .expect(201);
    }
    for (const [parent, kind, child] of edges) {
      const url = `workflow_job_template_nodes/${ids.get(parent)}/${kind}_nodes/`;
      await as.superuser.post(url, { id: ids.get(child) }).expect(204);
    }
    return workflow;
  }

  /** @returns id of the workflow job, whose first nodes have started */
  async launch(workflow: Row, body: object = {}): Promise<number> {
    const id = await this.queue(workflow, body);
    await this.advance();
    return id;
  }

  /** @returns id of the workflow job, which is pending */
  async queue(workflow: Row, body: object = {}): Promise<number> {
    const url = `workflow_job_templates/${workflow.id}/launch/`;
    const { body: launched } = await this.test.as.superuser.post(url, body).expect(201);
    return launched.workflow_job as number;
  }

  async run(id: number): Promise<Row> {
    return (await this.test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`))!;
  }

  /** Returns the run of a node, or undefined if there is none yet. */
  async runOf(workflowJobId: number, identifier: string): Promise<Row | undefined> {
    return this.test.database.row<Row>(sql`
      SELECT run.* FROM workflow_job_nodes node JOIN unified_jobs run ON run.id = node.job_id
      WHERE node.workflow_job_id = ${workflowJobId} AND node.identifier = ${identifier}`);
  }

  /** Returns the outcome by identifier; empty while a node has not ended. */
  async outcomes(workflowJobId: number): Promise<Record<string, string>> {
    const rows = await this.test.database.rows<{ identifier: string; outcome: string }>(sql`
      SELECT identifier, outcome FROM workflow_job_nodes WHERE workflow_job_id = ${workflowJobId}
      ORDER BY id`);
    return Object.fromEntries(rows.map(({ identifier, outcome }) => [identifier, outcome]));
  }

  /** Ends the run of a node as a worker does, and advances the workflow until nothing changes. */
  async end(
    workflowJobId: number,
    identifier: string,
    to: JobStatus,
    artifacts: object = {},
    secret: Record<string, unknown> = {},
  ): Promise<void> {
    const { id } = (await this.runOf(workflowJobId, identifier))!;
    const box = this.test.app.get(SecretBox, { strict: false });
    await this.transitions.move([id], { from: ['pending'], to: 'running' });
    await this.transitions.move([id], {
      from: ['running'],
      to,
      fields: {
        artifacts: JSON.stringify(artifacts),
        secret_artifacts: sealArtifacts(box, 'unified_jobs', id, secret),
      },
    });
    await this.settle();
  }

  /** Advances until a pass changes nothing. */
  async settle(): Promise<void> {
    for (let pass = 0; pass < 5; pass += 1) await this.advance();
  }
}

/** Returns `extra_vars` of a job. */
export const variablesOf = (job: Row | undefined): Record<string, unknown> =>
  JSON.parse(String(job?.extra_vars)) as Record<string, unknown>;
