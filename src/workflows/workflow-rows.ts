import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { insertRow } from '../database/rows.js';
import { ident, join, raw, sql, type Sql } from '../database/sql.js';
import { RunTransitions } from '../jobs/transitions.js';
import type { LaunchType } from '../jobs/unified-job.schema.js';
import type { Prompts } from '../templates/launch-config.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import { maskedPrompts, sealWorkflowSecrets } from './workflow-secrets.js';

/** A node of a workflow job that is about to be made. */
export interface NewNode {
  identifier: string;
  templateId: number;
  /** Prompts of the node itself. */
  own: Prompts;
  /** These over the defaults of the workflow: what its run is launched with. */
  effective: Prompts;
  /** Names of variables whose values are secret. */
  secrets: readonly string[];
}

/** The parent of a bulk launch. */
export interface NewWorkflowJob {
  name: string;
  description: string;
  organizationId: number | null;
  createdBy: number;
  launchType: LaunchType;
  /** Defaults for every node whose template asks for the field. */
  prompts: Prompts;
  secrets: readonly string[];
  nodes: readonly NewNode[];
}

/** Columns of a node that are prompts as sent. */
const NODE_PROMPTS = {
  scm_branch: 'text',
  job_type: 'text',
  job_tags: 'text',
  skip_tags: 'text',
  limit: 'text',
  diff_mode: 'boolean',
  verbosity: 'integer',
  forks: 'integer',
  job_slice_count: 'integer',
  timeout: 'integer',
} as const;

/** Writes workflow jobs with their nodes, set-based, in the caller's transaction. */
@Injectable()
export class WorkflowRows {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /** @returns the row of the workflow job, which is pending */
  async write(given: NewWorkflowJob): Promise<Row> {
    const config = maskedPrompts(given.prompts, given.secrets);
    const row = (await this.database.row<Row>(
      insertRow('unified_jobs', {
        ...columnsOf(given, config),
        launch_config: JSON.stringify(config),
      }),
    ))!;
    await this.keepSecrets(row.id, given, config);
    await this.database.execute(nodeStatement(row.id, given.nodes));
    this.activity.record({
      operation: 'create',
      object1: refOf(workflowJobs, row),
      changes: {
        id: row.id,
        name: row.name,
        launch_type: row.launch_type,
        nodes: given.nodes.length,
      },
    });
    await this.transitions.created([
      { id: row.id, type: 'workflow_job', status: 'pending', unified_job_template_id: null },
    ]);
    return row;
  }

  private async keepSecrets(id: number, given: NewWorkflowJob, config: Prompts): Promise<void> {
    const sealed = sealWorkflowSecrets(this.box, id, [
      { identifier: '', prompts: given.prompts, secrets: given.secrets },
      ...given.nodes.map(({ identifier, effective, secrets }) => ({
        identifier,
        prompts: effective,
        secrets,
      })),
    ]);
    if (Object.keys(sealed).length === 0) return;
    await this.database.execute(sql`
      UPDATE unified_jobs SET launch_config = ${JSON.stringify({ ...config, ...sealed })}
      WHERE id = ${id}`);
  }
}

function columnsOf(given: NewWorkflowJob, config: Prompts): Record<string, unknown> {
  const { prompts } = given;
  return {
    type: 'workflow_job',
    is_bulk_job: true,
    name: given.name,
    description: given.description,
    status: 'pending',
    launch_type: given.launchType,
    created_by_id: given.createdBy,
    modified_by_id: given.createdBy,
    organization_id: given.organizationId,
    inventory_id: prompts.inventory ?? null,
    limit: prompts.limit ?? null,
    scm_branch: prompts.scm_branch ?? null,
    job_tags: prompts.job_tags ?? null,
    skip_tags: prompts.skip_tags ?? null,
    extra_vars: JSON.stringify(config.extra_vars ?? {}),
  };
}

/** Nodes in their order, and the credentials they name, in one statement. */
function nodeStatement(workflowJobId: number, nodes: readonly NewNode[]): Sql {
  const names = Object.keys(NODE_PROMPTS) as (keyof typeof NODE_PROMPTS)[];
  const columns = join(
    names.map((name) => ident(name)),
    ', ',
  );
  const prompts = names.map(
    (name) => sql`${nodes.map(({ own }) => own[name] ?? null)}::${raw(NODE_PROMPTS[name])}[]`,
  );
  const credentials = nodes.flatMap(({ identifier, own }) =>
    ((own.credentials ?? []) as number[]).map((id) => ({ identifier, id })),
  );
  return sql`
    WITH node AS (
      INSERT INTO workflow_job_nodes (workflow_job_id, unified_job_template_id, identifier,
        inventory_id, extra_data, prompts, ${columns})
      SELECT ${workflowJobId}::int, template_id, identifier, inventory_id, extra_data, prompts,
        ${columns}
      FROM unnest(${nodes.map(({ templateId }) => templateId)}::int[],
        ${nodes.map(({ identifier }) => identifier)}::text[],
        ${nodes.map(({ own }) => own.inventory ?? null)}::int[],
        ${nodes.map(({ own, secrets }) => shownVariables(own, secrets))}::json[],
        ${nodes.map(({ effective, secrets }) => JSON.stringify(maskedPrompts(effective, secrets)))}::json[],
        ${join(prompts, ', ')})
      WITH ORDINALITY AS given (template_id, identifier, inventory_id, extra_data, prompts,
        ${columns}, place)
      ORDER BY place RETURNING id, identifier)
    INSERT INTO workflow_job_node_credentials (workflow_job_node_id, credential_id)
    SELECT node.id, given.credential_id
    FROM unnest(${credentials.map(({ identifier }) => identifier)}::text[],
      ${credentials.map(({ id }) => id)}::int[]) AS given (identifier, credential_id)
    JOIN node ON node.identifier = given.identifier`;
}

const shownVariables = (own: Prompts, secrets: readonly string[]): string =>
  JSON.stringify(maskedPrompts(own, secrets).extra_vars ?? {});
