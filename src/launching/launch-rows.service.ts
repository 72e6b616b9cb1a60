import { Injectable } from '@nestjs/common';
import { jsonText } from '../common/fields/json-text.js';
import { exactJson } from '../common/exact-json.js';
import { settleAll } from '../database/settle-all.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { tableOf } from '../common/records.js';
import { Database } from '../database/database.js';
import type { ColumnValues } from '../database/rows.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { neededPasswords, type PlannedLaunch } from './launch-check.js';
import { maskedVariables, sealPasswords, sealSecrets } from '../prompts/launch-secrets.js';
import { columnsOfPrompts } from '../prompts/prompt-columns.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { reportsTo } from '../runs/webhook-run.schema.js';
import { HeldRuns } from '../workflows/held-runs.listener.js';
import type { JobStatus } from '../runs/unified-job.entity.js';

/** Columns that a job copies from its template. */
const TEMPLATE_COLUMNS = [
  'description',
  'organization_id',
  'project_id',
  'playbook',
  'force_handlers',
  'start_at_task',
  'use_fact_cache',
  'become_enabled',
  'allow_simultaneous',
] as const;

/** A planned launch with the id of its job, if it creates one. */
export interface NumberedLaunch extends PlannedLaunch {
  id: number;
}

/**
 * Writes jobs in the caller's transaction: rows, credentials, audit entries, and the effects of new
 * runs.
 */
@Injectable()
export class LaunchRows {
  constructor(
    private readonly database: Database,
    private readonly runs: RunsRepository,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
    private readonly heldRuns: HeldRuns,
  ) {}

  /** Reserves the ids of new jobs. Secrets are encrypted for the id of their row before the insert. */
  async takeIds(count: number): Promise<number[]> {
    return count === 0 ? [] : this.runs.takeIds(count);
  }

  /** @returns ids in the order of the plans */
  async write(plans: readonly NumberedLaunch[]): Promise<number[]> {
    if (plans.length === 0) return [];
    for (const plan of plans) this.record(plan);
    await settleAll([
      this.database.deferToCommit(this.runs.insertMany(plans.map((plan) => this.rowOf(plan)))),
      this.linkCredentials(plans),
      this.linkLabels(plans),
      this.transitions.created(
        plans.map((plan) => ({
          id: plan.id,
          type: 'job',
          status: statusOf(plan),
          unified_job_template_id: plan.template.row.id,
          reports_to: reportsTo(plan.request.webhook),
        })),
      ),
    ]);
    await this.heldRuns.hold(
      plans.flatMap(({ id, request }) => (request.isHeld === true ? [id] : [])),
    );
    return plans.map(({ id }) => id);
  }

  private rowOf(plan: NumberedLaunch): ColumnValues {
    const { id, request, template, effective, variables } = plan;
    return {
      ...tableOf(TEMPLATE_COLUMNS, (column) => template.row[column]),
      ...columnsOfPrompts(effective),
      id,
      type: 'job',
      name: request.name ?? template.row.name,
      status: statusOf(plan),
      launch_type: request.launchType,
      unified_job_template_id: template.row.id,
      job_template_id: template.row.id,
      created_by_id: request.createdBy,
      modified_by_id: request.createdBy,
      extra_vars: jsonText(maskedVariables(variables.variables, variables.secrets)),
      start_args: sealPasswords(this.box, id, usedPasswords(plan)),
      launch_config: exactJson({
        ...configOf(plan),
        ...sealSecrets(this.box, id, variables.variables, variables.secrets),
      }),
      job_slice_number: request.slice?.number ?? 0,
      job_slice_count: request.slice?.count ?? 1,
      // Slices of one launch run in parallel.
      ...((request.slice?.number ?? 0) > 0 ? { allow_simultaneous: true } : {}),
      environment: null,
      ...request.environment,
      webhook_service: request.webhook?.service ?? '',
      webhook_credential_id: request.webhook?.credentialId ?? null,
      webhook_guid: request.webhook?.guid ?? '',
      webhook_delivery_id: request.webhook?.deliveryId ?? null,
    };
  }

  private async linkCredentials(plans: readonly NumberedLaunch[]): Promise<void> {
    const links = plans.flatMap(({ id, credentials }) =>
      credentials.map((credential) => [id, credential.id]),
    );
    if (links.length === 0) return;
    await this.database.deferToCommit(this.runs.attachCredentials(links));
  }

  /** Labels of the launch are added to the template's. */
  private async linkLabels(plans: readonly NumberedLaunch[]): Promise<void> {
    const links = plans.flatMap(({ id, template, accepted }) => {
      const templateLabels = template.labels.map((label) => label.id);
      const labels = new Set([...templateLabels, ...(accepted.labels ?? [])]);
      return [...labels].map((label) => [id, label]);
    });
    if (links.length === 0) return;
    await this.database.deferToCommit(this.runs.attachLabels(links));
  }

  private record({ id, request, template }: NumberedLaunch): void {
    const name = String(request.name ?? template.row.name);
    const organizationId = template.row.organization_id;
    const parent = { type: 'job_template', id: template.row.id };
    this.activity.record({
      operation: 'create',
      object1: { type: 'job', id, name, organizationId, parent },
      changes: {
        id,
        name,
        launch_type: request.launchType,
        job_template: `${String(template.row.name)}-${template.row.id}`,
      },
    });
  }
}

const statusOf = ({ request }: PlannedLaunch): JobStatus =>
  request.isHeld === true ? 'new' : 'pending';

/** Returns the passwords that a credential of the job requires; others are not stored. */
function usedPasswords({ request, credentials }: PlannedLaunch): Record<string, string> {
  const passwords = request.credentialPasswords ?? {};
  return Object.fromEntries(
    neededPasswords(credentials).flatMap((name) => {
      const password = passwords[name];
      return password === undefined ? [] : [[name, password]];
    }),
  );
}

/** Returns the prompts of the launch for relaunches, by field, with masked secret answers. */
function configOf({ accepted, variables }: PlannedLaunch): Record<string, unknown> {
  if (Object.keys(variables.accepted).length === 0) return accepted;
  return { ...accepted, extra_vars: maskedVariables(variables.accepted, variables.secrets) };
}
