import { Injectable } from '@nestjs/common';
import { settleAll } from '../database/settle-all.js';
import { type Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import {
  CredentialsRepository,
  type UsableCredential,
} from '../credentials/credentials.repository.js';
import { passwordsNeeded } from '../credentials/types/inputs.js';
import { ExecutionEnvironmentsRepository } from '../execution-environments/execution-environments.repository.js';
import { InstanceGroupsRepository } from '../instances/instance-groups.repository.js';
import { InventoriesRepository } from '../inventories/inventories.repository.js';
import { isSmart } from '../inventories/inventory-members.js';
import { MemberCounts } from '../inventories/member-counts.service.js';
import type { JobTemplate } from '../job-templates/job-template.entity.js';
import { NO_IDS } from '../database/sql.js';
import {
  credentialsOfTemplates,
  inventoriesOfTemplates,
  JobTemplatesRepository,
} from '../job-templates/job-templates.repository.js';
import { LabelsRepository } from '../labels/labels.repository.js';
import { parseTemplateVariables, type LaunchableTemplate } from './launch-plan.js';
import type { ObjectField, Prompts } from '../prompts/launch-options.js';
import { storedPrompts } from '../prompts/prompt-columns.js';
import { openSaved } from '../prompts/saved-prompts.js';
import type { LaunchCredential } from '../prompts/saved-launch-targets.js';
import { openSurvey } from '../prompts/survey-secrets.js';
import { WorkflowJobTemplateNodesRepository } from '../workflow-templates/workflow-job-template-nodes.repository.js';
import type { WorkflowJobTemplate } from '../workflow-templates/workflow-job-template.entity.js';
import { WorkflowJobTemplatesRepository } from '../workflow-templates/workflow-job-templates.repository.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';

export interface LaunchProject {
  scmType: string;
  status: string;
  /** True if the last update failed because of its signature. */
  hasInvalidSignature: boolean;
  revision: string;
  allowsOverride: boolean;
  branch: string;
  updatesOnLaunch: boolean;
}

export interface LaunchInventory {
  id: number;
  name: string;
  isPendingDeletion: boolean;
  /** Null if the hosts of a smart inventory take too long to count. */
  totalHosts: number | null;
  mayUse: boolean;
}

/** A label, an instance group or an execution environment. */
export interface LaunchResource {
  id: number;
  name: string;
  mayUse: boolean;
}

/** A job template with all data that determines its launches. */
export interface LaunchTemplate extends LaunchableTemplate {
  row: RowOf<JobTemplate>;
  /** The template's values of the launch fields that have columns. */
  stored: Prompts;
  project: LaunchProject | null;
  inventory: LaunchInventory | null;
  environment: LaunchResource | null;
  credentials: LaunchCredential[];
  labels: LaunchResource[];
  /** Preferred instance groups of the template's jobs, best first. */
  instanceGroups: LaunchResource[];
}

/** A workflow job template with all data that determines its launches, except its nodes. */
export interface LoadedWorkflow extends LaunchableTemplate {
  row: RowOf<WorkflowJobTemplate>;
  nodeCount: number;
  /** Number of bytes of the variables and limits of the nodes. */
  nodeSize: number;
  labels: { id: number; name: string }[];
}

export interface SavedNode {
  id: number;
  workflowTemplateId: number;
  templateId: number | null;
  identifier: string;
  allParentsMustConverge: boolean;
  /** Launch fields that the node sets, with credentials, labels, groups and decrypted answers. */
  prompts: Prompts;
  /** Names of secret variables. */
  secrets: string[];
  parents: { identifier: string; kind: EdgeKind }[];
}

/** All objects of a set of launches, by launch field and id. */
export interface LaunchObjects {
  templates: Map<number, LaunchTemplate>;
  inventory: Map<number, LaunchInventory>;
  credentials: Map<number, LaunchCredential>;
  labels: Map<number, LaunchResource>;
  instance_groups: Map<number, LaunchResource>;
  execution_environment: Map<number, LaunchResource>;
}

/**
 * Ids of the objects of a set of launches, besides those that the templates refer to. Ids of `templates` of
 * other kinds than job templates are ignored.
 */
type LaunchReferences = Partial<Record<'templates' | ObjectField, readonly number[]>>;

/** Loads the data of launches. The number of statements is independent of the number of launches. */
@Injectable()
export class LaunchLoader {
  constructor(
    private readonly templates: JobTemplatesRepository,
    private readonly inventoryRows: InventoriesRepository,
    private readonly memberCounts: MemberCounts,
    private readonly credentialRows: CredentialsRepository,
    private readonly labelRows: LabelsRepository,
    private readonly groupRows: InstanceGroupsRepository,
    private readonly environmentRows: ExecutionEnvironmentsRepository,
    private readonly workflowJobTemplates: WorkflowJobTemplatesRepository,
    private readonly savedNodes: WorkflowJobTemplateNodesRepository,
    private readonly box: SecretBox,
  ) {}

  /** @param actor caller; null: no permission check, as for webhooks */
  async load(named: LaunchReferences, actor: Actor | null): Promise<LaunchObjects> {
    const { templates: ids = [] } = named;
    const [rows, inventories, credentials] = await settleAll([
      ids.length === 0 ? [] : this.templates.launchable(ids, actor),
      this.inventories(named.inventory ?? [], actor, ids),
      this.credentials(named.credentials ?? [], actor, ids),
    ]);
    const labelIds = [...(named.labels ?? []), ...rows.flatMap((row) => row.label_ids)];
    const groupIds = [...(named.instance_groups ?? []), ...rows.flatMap((row) => row.group_ids)];
    const environmentIds = [
      ...(named.execution_environment ?? []),
      ...rows.flatMap((row) => row.execution_environment_id ?? []),
    ];
    // Loads objects that were attached to a template while it was being read.
    const [newInventories, newCredentials, labels, groups, environments] = await settleAll([
      this.inventories(
        rows.flatMap((row) => row.inventory_id ?? []).filter((id) => !inventories.has(id)),
        actor,
      ),
      this.credentials(
        rows.flatMap((row) => row.credential_ids).filter((id) => !credentials.has(id)),
        actor,
      ),
      usableResources(this.labelRows, labelIds, actor),
      usableResources(this.groupRows, groupIds, actor),
      usableResources(this.environmentRows, environmentIds, actor),
      parseTemplateVariables(rows),
    ]);
    for (const [id, inventory] of newInventories) inventories.set(id, inventory);
    for (const [id, credential] of newCredentials) credentials.set(id, credential);
    const templates = new Map<number, LaunchTemplate>();
    for (const row of rows) {
      templates.set(row.id, {
        row,
        stored: storedPrompts(row),
        mayStart: row.may_start === true,
        project: projectOf(row),
        inventory: inventories.get(row.inventory_id ?? 0) ?? null,
        environment: environments.get(row.execution_environment_id ?? 0) ?? null,
        survey: row.survey_enabled === true ? openSurvey(this.box, row.id, row.survey_spec) : null,
        credentials: row.credential_ids.flatMap((id) => credentials.get(id) ?? []),
        labels: row.label_ids.flatMap((id) => labels.get(id) ?? []),
        instanceGroups: row.group_ids.flatMap((id) => groups.get(id) ?? []),
      });
    }
    return {
      templates,
      inventory: inventories,
      credentials,
      labels,
      instance_groups: groups,
      execution_environment: environments,
    };
  }

  /**
   * Returns workflow job templates, without the objects of their prompts.
   *
   * @param actor caller; null: no permission check, as for webhooks
   */
  async workflows(
    ids: readonly number[],
    actor: Actor | null,
  ): Promise<Map<number, LoadedWorkflow>> {
    if (ids.length === 0) return new Map();
    const rows = await this.workflowJobTemplates.launchable(ids, actor);
    const templates = new Map(
      rows.map((row) => [
        row.id,
        {
          row,
          mayStart: row.may_start,
          survey: row.survey_enabled ? openSurvey(this.box, row.id, row.survey_spec) : null,
          nodeCount: row.node_count,
          nodeSize: row.node_size,
          labels: row.linked_labels,
          // Only the jobs of the nodes have credentials.
          credentials: [],
        },
      ]),
    );
    await parseTemplateVariables([...templates.values()].map(({ row }) => row));
    return templates;
  }

  /**
   * Returns the nodes of workflow job templates with their edges.
   *
   * @throws UnsealError if a secret answer cannot be decrypted with the installation's keys
   */
  async nodes(workflowIds: readonly number[]): Promise<SavedNode[]> {
    const rows = await this.savedNodes.saved(workflowIds);
    return rows.map((row) => ({
      id: row.id,
      workflowTemplateId: row.workflow_job_template_id,
      templateId: row.unified_job_template_id,
      identifier: row.identifier,
      allParentsMustConverge: row.all_parents_must_converge,
      prompts: openSaved(this.box, 'workflow_job_template_nodes', row),
      secrets: Object.keys(row.survey_passwords),
      parents: row.parents,
    }));
  }

  /** @param templates templates whose inventories are also loaded */
  private async inventories(
    ids: readonly number[],
    actor: Actor | null,
    templates: readonly number[] = [],
  ): Promise<Map<number, LaunchInventory>> {
    if (ids.length + templates.length === 0) return new Map();
    const ofTemplates = templates.length === 0 ? NO_IDS : inventoriesOfTemplates(templates);
    const rows = await this.inventoryRows.usable(ids, actor, ofTemplates);
    const members = await this.memberCounts.known(rows.filter(isSmart));
    return new Map(
      rows.map((row) => [
        row.id,
        {
          id: row.id,
          name: String(row.name),
          isPendingDeletion: row.pending_deletion === true,
          totalHosts: isSmart(row) ? (members.get(row.id)?.total ?? null) : row.total_hosts,
          mayUse: row.may_use === true,
        },
      ]),
    );
  }

  /** @param templates templates whose credentials are also loaded */
  private async credentials(
    ids: readonly number[],
    actor: Actor | null,
    templates: readonly number[] = [],
  ): Promise<Map<number, LaunchCredential>> {
    if (ids.length + templates.length === 0) return new Map();
    const ofTemplates = templates.length === 0 ? NO_IDS : credentialsOfTemplates(templates);
    const rows = await this.credentialRows.usable(ids, actor, ofTemplates);
    return new Map(rows.map((row) => [row.id, launchCredentialOf(row)]));
  }
}

/** Returns the data for launches. The secrets stay sealed; inputs that ask for a password are not secret. */
function launchCredentialOf(row: UsableCredential): LaunchCredential {
  const { credential_type: type, inputs } = row;
  const vaultId = inputs.vault_id;
  return {
    id: row.id,
    name: row.name,
    type,
    inputs: vaultId === undefined ? {} : { vault_id: vaultId },
    credentialTypeId: row.credential_type_id,
    passwordsNeeded: passwordsNeeded(type, inputs),
    mayUse: row.may_use,
  };
}

async function usableResources(
  rows: Pick<InstanceGroupsRepository, 'usable'>,
  ids: readonly number[],
  actor: Actor | null,
): Promise<Map<number, LaunchResource>> {
  if (ids.length === 0) return new Map();
  const found = await rows.usable(ids, actor);
  return new Map(found.map(({ id, name, may_use: mayUse }) => [id, { id, name, mayUse }]));
}

function projectOf(row: Row): LaunchProject | null {
  if (typeof row.project_id !== 'number') return null;
  return {
    scmType: String(row.project_scm_type),
    status: String(row.project_status),
    hasInvalidSignature: row.project_has_invalid_signature === true,
    revision: String(row.project_revision ?? ''),
    allowsOverride: row.project_allow_override === true,
    branch: String(row.project_branch ?? ''),
    updatesOnLaunch: row.project_update_on_launch === true,
  };
}
