import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Invalid } from '../common/errors/errors.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import {
  valueAfter,
  type Prepared,
  type ResourceHooks,
  type ValuesOf,
} from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { Settings } from '../config/settings.js';
import { HARMLESS_OPTIONS } from '../prompts/prompt-columns.js';
import { templateErrors, type TemplateFacts } from './job-template-checks.js';
import { assertMayRetain } from '../templates/retention.schema.js';
import { WebhookFields } from '../templates/webhook-fields.service.js';
import type { JobTemplate } from './job-template.entity.js';
import { TemplateProjects } from './template-projects.service.js';

/** Fields that change neither the code nor the hosts of runs, and need no role on project and inventory. */
const NON_SENSITIVE = new Set([
  'name',
  'description',
  'force_handlers',
  'survey_enabled',
  'retention_days',
  'retention_runs',
  ...HARMLESS_OPTIONS,
]);

@Injectable()
export class JobTemplateHooks implements ResourceHooks<JobTemplate> {
  constructor(
    private readonly runs: ActiveRunsQuery,
    private readonly projects: TemplateProjects,
    private readonly references: ReferencesService,
    private readonly webhooks: WebhookFields,
    private readonly settings: Settings,
  ) {}

  async prepareCreate(values: ValuesOf<JobTemplate>, actor: Actor): Promise<Prepared<JobTemplate>> {
    const { organizationId } = await this.check(values, {});
    await assertMayRetain(values, { organization: organizationId }, actor, this.references);
    // A template that is created below an organization must use a project of that organization.
    if (typeof values.organization === 'number' && values.organization !== organizationId) {
      throw Invalid.field('project', 'The project does not belong to this organization.');
    }
    return { columns: { organization_id: organizationId } };
  }

  async created(row: RowOf<JobTemplate>): Promise<void> {
    await this.webhooks.created(row);
  }

  async prepareUpdate(
    row: RowOf<JobTemplate>,
    values: ValuesOf<JobTemplate>,
    actor: Actor,
  ): Promise<Prepared<JobTemplate>> {
    if (Object.keys(values).some((name) => !NON_SENSITIVE.has(name))) {
      await this.assertMayUse('project', values.project ?? row.project_id, actor);
      await this.assertMayUse('inventory', values.inventory ?? row.inventory_id, actor);
    }
    const { organizationId } = await this.check(values, row);
    await assertMayRetain(values, { ...row, organization: organizationId }, actor, this.references);
    return {
      columns: {
        ...('project' in values ? { organization_id: organizationId } : {}),
        ...this.webhooks.keyAfter(row, values),
      },
    };
  }

  async prepareDelete(row: RowOf<JobTemplate>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['unified_job_template_id'], [row.id]);
  }

  /** @throws Invalid with the errors of all fields */
  private async check(
    values: ValuesOf<JobTemplate>,
    row: Partial<RowOf<JobTemplate>>,
  ): Promise<{ organizationId: number | null }> {
    const value = valueAfter(values, row);
    const project = await this.projects.find(value('project'));
    const facts: TemplateFacts = {
      value,
      changes: (...fields) => fields.some((field) => field in values),
      project,
    };
    const errors = {
      ...templateErrors(facts, { maxForks: this.settings.MAX_FORKS }),
      ...(await this.webhooks.errors(values, row)),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    return { organizationId: project?.organization_id ?? null };
  }

  private async assertMayUse(type: string, id: unknown, actor: Actor): Promise<void> {
    if (typeof id === 'number') {
      await this.references.assertAllowed(resource(type), [id], 'use', actor);
    }
  }
}
