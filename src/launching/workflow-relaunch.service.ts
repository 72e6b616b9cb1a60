import { Injectable } from '@nestjs/common';
import { type Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { BadRequest, Forbidden, Invalid } from '../common/errors/errors.js';
import { entryOf, itemAt } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { anyDenied } from '../common/rest/references.service.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { JobTemplatesRepository } from '../job-templates/job-templates.repository.js';
import { connectionFaults } from '../prompts/connection-variables.js';
import { artifactNamesOf, promptsOf } from '../prompts/launch-secrets.js';
import { defaultVariables } from '../prompts/launch-variables.js';
import {
  objectIds,
  PROMPT_FIELDS,
  promptsIn,
  type PromptList,
  type Prompts,
} from '../prompts/launch-options.js';
import { webhookOf } from '../runs/webhook-run.schema.js';
import { inventoryOf, templatesWithRights } from '../templates/templates.repository.js';
import { WorkflowJobsRepository } from '../workflows/workflow-jobs.repository.js';
import { FormerNodes } from './former-nodes.service.js';
import { MAX_SLICES } from './launch-check.js';
import { LaunchLoader } from './launch.loader.js';
import { LaunchTargets } from './launch-targets.service.js';
import { assertOwnSecrets, secretsOf } from './relaunch-secrets.js';
import { HeldRuns } from '../workflows/held-runs.listener.js';
import type { WorkflowJob } from '../workflows/workflow-job.entity.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import {
  WorkflowRows,
  type NewNode,
  type NewWorkflowJob,
} from '../workflows/workflow-rows.service.js';
import { secretFiller, secretNamesOf } from '../workflows/workflow-secrets.js';

const TEXTS = {
  template: 'Workflow Job Template is missing or undefined.',
  sliceOrphan: 'Cannot relaunch slice workflow job orphaned from job template.',
  slices: 'Cannot relaunch sliced workflow job after slice count has changed.',
  inventory: 'An inventory of the workflow job is missing or undefined.',
  resources: 'You do not have permission to the workflow job resources required for relaunch.',
} as const;

/** Prompts that a relaunch reuses unchanged; labels can have been deleted. */
const REUSED_PROMPTS = PROMPT_FIELDS.filter((field) => field !== 'labels');

/**
 * Launches a workflow job again with the nodes and prompts of the former workflow job, not with those
 * of the current template.
 */
@Injectable()
export class WorkflowRelaunch {
  constructor(
    private readonly database: Database,
    private readonly templates: JobTemplatesRepository,
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly box: SecretBox,
    private readonly formerNodes: FormerNodes,
    private readonly rows: WorkflowRows,
    private readonly resources: ResourceService,
    private readonly targets: LaunchTargets,
    private readonly loader: LaunchLoader,
    private readonly heldRuns: HeldRuns,
  ) {}

  /** @throws BadRequest, Forbidden, Invalid with the texts of the contract */
  async relaunch(job: RowOf<WorkflowJob>, actor: Actor): Promise<object> {
    return this.database.transaction(async () => {
      const fill = secretFiller(this.box, job.id, job.launch_config);
      const nodes = await this.formerNodes.load(job, fill);
      await this.assertTemplate(job, nodes.length);
      await this.heldRuns.assertApproved(job);
      assertOwnSecrets(job, secretsOf(job, nodes), actor);
      const prompts = fill('', promptsOf(job.launch_config));
      await this.assertVariables(job, prompts);
      await this.assertMayUse(job, nodes, actor);
      await this.assertInventories([prompts, ...nodes.map((node) => node.prompts)]);
      const written = await this.rows.write([
        await this.workflowJobOf(job, { prompts, nodes }, actor),
      ]);
      return this.resources.show(workflowJobs, itemAt(written, 0), actor);
    });
  }

  private async assertTemplate(job: RowOf<WorkflowJob>, slices: number): Promise<void> {
    if (job.is_sliced_job !== true) {
      if (job.unified_job_template_id === null) throw new BadRequest(TEXTS.template);
      return;
    }
    if (job.job_template_id === null) throw new BadRequest(TEXTS.sliceOrphan);
    const inventories = job.inventory_id === null ? [] : [job.inventory_id];
    const { inventory: found } = await this.loader.load({ inventory: inventories }, null);
    const sliceCount = await this.templates.sliceCount(
      Number(job.job_template_id),
      promptsOf(job.launch_config).job_slice_count ?? null,
      Math.min(found.get(job.inventory_id ?? 0)?.totalHosts ?? MAX_SLICES, MAX_SLICES),
    );
    if (sliceCount !== slices) throw new BadRequest(TEXTS.slices);
  }

  /**
   * Checks the variables of the former launch, which include those of its template at that time.
   * Connection variables must still be in the template, or the template must accept them from a
   * launch.
   */
  private async assertVariables(
    job: RowOf<WorkflowJob>,
    { extra_vars: variables = {} }: Prompts,
  ): Promise<void> {
    if (connectionFaults(variables, { isOpen: false, defaults: {} }).length === 0) return;
    const id = Number(job.unified_job_template_id);
    const { prompted, survey } = entryOf(await this.targets.templates([id]), id);
    const faults = connectionFaults(variables, {
      isOpen: prompted.allowsConnectionVars,
      defaults: defaultVariables(prompted.variables(), survey),
    });
    if (faults.length > 0) throw new Invalid({ extra_vars: faults });
  }

  /** Checks permissions on all objects of the nodes, in one statement. */
  private async assertMayUse(
    job: RowOf<WorkflowJob>,
    nodes: readonly NewNode[],
    actor: Actor,
  ): Promise<void> {
    if (actor.isSuperuser) return;
    const idsOf = (field: 'inventory' | 'execution_environment' | PromptList): number[] =>
      nodes.flatMap(({ prompts }) => prompts[field] ?? []);
    const inventories = [
      ...idsOf('inventory'),
      ...(job.inventory_id === null ? [] : [job.inventory_id]),
    ];
    const templates = nodes.flatMap(({ templateId }) => templateId ?? []);
    const template = job.job_template_id ?? job.unified_job_template_id;
    const templateInventory = inventoryOf(sql`${template}::int`);
    const found = await this.database.rowOrFail<{ is_denied: boolean }>(sql`
      SELECT EXISTS (
          SELECT 1 FROM (${templatesWithRights(templates, actor)}) t
          -- Only superusers may launch system jobs.
          WHERE NOT t.may_start OR t.type = 'system_job_template')
        -- A caller who may launch the template may use the inventory of the template.
        OR ${anyDenied('inventory', 'use', inventories, actor, templateInventory)}
        OR ${anyDenied('credential', 'use', idsOf('credentials'), actor)}
        OR ${anyDenied('execution_environment', 'read', idsOf('execution_environment'), actor)}
        OR ${anyDenied('label', 'read', idsOf('labels'), actor)}
        OR ${anyDenied('instance_group', 'use', idsOf('instance_groups'), actor)} AS is_denied`);
    if (found.is_denied) throw new Forbidden(TEXTS.resources);
  }

  /** @throws BadRequest for a deleted inventory: without it, the jobs would run on other hosts */
  private async assertInventories(all: readonly Prompts[]): Promise<void> {
    const ids = objectIds(all, 'inventory');
    const { inventory: found } = await this.loader.load({ inventory: ids }, null);
    if (ids.some((id) => found.get(id)?.isPendingDeletion !== false)) {
      throw new BadRequest(TEXTS.inventory);
    }
  }

  private async workflowJobOf(
    job: RowOf<WorkflowJob>,
    { prompts, nodes }: { prompts: Prompts; nodes: readonly NewNode[] },
    actor: Actor,
  ): Promise<NewWorkflowJob> {
    const labels = await this.workflowJobs.labelsOf(job.id, prompts.labels ?? []);
    const isSliced = job.job_template_id !== null;
    return {
      name: job.name,
      description: job.description,
      templateId: isSliced ? null : job.unified_job_template_id,
      slicedTemplateId: job.job_template_id,
      isBulk: false,
      allowSimultaneous: job.allow_simultaneous === true,
      organizationId: job.organization_id,
      createdBy: actor.id,
      launchType: 'relaunch',
      prompts: {
        ...promptsIn(prompts, REUSED_PROMPTS),
        ...(labels.existing.length > 0 ? { labels: labels.existing } : {}),
      },
      secrets: secretNamesOf(job.launch_config),
      artifactNames: artifactNamesOf(job.launch_config),
      labels: labels.own,
      ...webhookOf(job),
      nodes,
    };
  }
}
