import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { refErrors } from '../prompts/branch.js';
import { assertMayRetain } from '../templates/retention.schema.js';
import { WebhookFields } from '../templates/webhook-fields.service.js';
import type { WorkflowJobTemplate } from './workflow-job-template.entity.js';
import { WorkflowJobTemplatesRepository } from './workflow-job-templates.repository.js';

const ORGANIZATION_NEEDED =
  'An organization is required to create a workflow job template for normal user';

@Injectable()
export class WorkflowJobTemplateHooks implements ResourceHooks<WorkflowJobTemplate> {
  constructor(
    private readonly runs: ActiveRunsQuery,
    private readonly templates: WorkflowJobTemplatesRepository,
    private readonly references: ReferencesService,
    private readonly webhooks: WebhookFields,
  ) {}

  async prepareCreate(values: ValuesOf<WorkflowJobTemplate>, actor: Actor): Promise<void> {
    if (values.organization === null && !actor.isSuperuser) {
      throw new Forbidden(ORGANIZATION_NEEDED);
    }
    await this.check(values, {});
    await assertMayRetain(values, { organization: values.organization }, actor, this.references);
  }

  async created(row: RowOf<WorkflowJobTemplate>): Promise<void> {
    await this.webhooks.created(row);
  }

  async prepareUpdate(
    row: RowOf<WorkflowJobTemplate>,
    values: ValuesOf<WorkflowJobTemplate>,
    actor: Actor,
  ): Promise<Prepared<WorkflowJobTemplate>> {
    if (values.organization === null && typeof row.organization_id === 'number') {
      // Moving a workflow out of an organization requires the same permission as moving it in.
      const organization = resource('organization');
      const former = [row.organization_id];
      await this.references.assertAllowed(organization, former, 'workflow_admin', actor);
    }
    await this.check(values, row);
    const organization = values.organization ?? row.organization_id;
    await assertMayRetain(values, { ...row, organization }, actor, this.references);
    return { columns: this.webhooks.keyAfter(row, values) };
  }

  /**
   * Deletes the approval templates of the workflow's nodes, which no other object uses. The database
   * deletes the nodes with the workflow.
   */
  async prepareDelete(row: RowOf<WorkflowJobTemplate>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['unified_job_template_id'], [row.id]);
    await this.templates.removeApprovalsOf(row.id);
  }

  /** @throws Invalid with the errors of all fields */
  private async check(
    values: ValuesOf<WorkflowJobTemplate>,
    row: Partial<RowOf<WorkflowJobTemplate>>,
  ): Promise<void> {
    const errors = { ...(await this.webhooks.errors(values, row)), ...refErrors(values) };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }
}
