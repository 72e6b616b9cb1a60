import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/validate.js';
import { BadRequest, Forbidden } from '../common/http/errors.js';
import type { Reply } from '../common/http/reply.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { promptsOf } from '../jobs/launch-secrets.js';
import { PROMPT_FIELDS, type Prompts } from '../templates/launch-config.js';
import { secretFiller } from '../workflows/workflow-secrets.js';
import { BulkLaunchService } from './bulk-launch.service.js';
import type { JobEntry } from './job-entries.js';

interface FormerNode extends Row {
  unified_job_template_id: number | null;
  identifier: string;
  extra_data: Record<string, unknown>;
  inventory_id: number | null;
  credentials: number[];
}

/** Launches the nodes of a bulk launch again, by the rules of a bulk launch. */
@Injectable()
export class BulkRelaunch {
  constructor(
    private readonly database: Database,
    private readonly launches: BulkLaunchService,
    private readonly box: SecretBox,
  ) {}

  /**
   * @throws Forbidden for the secret answers of somebody else, BadRequest when a template is gone,
   *   Invalid as a bulk launch does for what the caller may not launch any more
   */
  async relaunch(job: Row, actor: Actor): Promise<Reply> {
    const nodes = await this.nodes(job.id);
    if (nodes.some((node) => node.unified_job_template_id === null)) {
      throw new BadRequest('A template of the workflow job is missing or undefined.');
    }
    const config = job.launch_config as object | null;
    const defaults = promptsOf(config) as Prompts;
    const hasSecrets = [defaults.extra_vars, ...nodes.map((node) => node.extra_data)].some(
      (variables) => Object.values(variables ?? {}).includes(ENCRYPTED),
    );
    if (hasSecrets && job.created_by_id !== actor.id && !actor.isSuperuser) {
      throw new Forbidden('Job was launched with secret prompts provided by another user.');
    }
    const fill = secretFiller(this.box, job.id, config);
    return this.launches.start(
      {
        name: String(job.name),
        description: String(job.description),
        organizationId: job.organization_id as number | null,
        prompts: fill('', defaults),
        entries: nodes.map((node) => entryOf(node, fill)),
      },
      actor,
      { launchType: 'relaunch' },
    );
  }

  private nodes(workflowJobId: number): Promise<FormerNode[]> {
    return this.database.rows<FormerNode>(sql`
      SELECT n.*, ARRAY(SELECT credential_id FROM workflow_job_node_credentials
        WHERE workflow_job_node_id = n.id ORDER BY id) AS credentials
      FROM workflow_job_nodes n WHERE n.workflow_job_id = ${workflowJobId} ORDER BY n.id`);
  }
}

/** What was sent for the node; its secret answers come from where they are kept. */
function entryOf(
  node: FormerNode,
  fill: (identifier: string, prompts: Prompts) => Prompts,
): JobEntry {
  const given = Object.fromEntries(
    PROMPT_FIELDS.map((field) => [field, node[field]]).filter(([, value]) => isSet(value)),
  ) as Prompts;
  const prompts: Prompts = {
    ...given,
    ...(node.inventory_id === null ? {} : { inventory: node.inventory_id }),
    ...(Object.keys(node.extra_data).length === 0 ? {} : { extra_vars: node.extra_data }),
  };
  return {
    templateId: node.unified_job_template_id!,
    identifier: node.identifier,
    prompts: fill(node.identifier, prompts),
    ignored: [],
  };
}

const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
