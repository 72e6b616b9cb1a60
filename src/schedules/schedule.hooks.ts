import { Injectable } from '@nestjs/common';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { entryOf, existing } from '../common/invariants.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { ExtraColumns, Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { readExtraData, savedFaults, sealSaved } from '../prompts/saved-prompts.js';
import { SavedLaunchTargets, type SavedLaunchTarget } from '../prompts/saved-launch-targets.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { NextLaunches } from './next-launches.service.js';
import { Recurrence } from './recurrence.js';
import { RuleTextError } from './rule-text.js';
import type { Schedule } from './schedule.entity.js';
import { SchedulesRepository } from './schedules.repository.js';

/** Types of templates that can be launched, and have schedules and notifications. */
export const LAUNCHABLE_TYPES = [
  'job_template',
  'project',
  'workflow_job_template',
  'inventory_source',
  'system_job_template',
];

/** Hooks of schedules: rules and prompts (docs/contract/schedules.md). */
@Injectable()
export class ScheduleHooks implements ResourceHooks<Schedule> {
  constructor(
    private readonly database: Database,
    private readonly schedules: SchedulesRepository,
    private readonly projects: TemplatesRepository,
    private readonly references: ReferencesService,
    private readonly box: SecretBox,
    private readonly targets: SavedLaunchTargets,
    private readonly next: NextLaunches,
  ) {}

  async lockParent(id: number): Promise<void> {
    const row = await this.schedules.findOneBy({ id });
    const templates = row ? [Number(row.unified_job_template_id)] : [];
    await this.references.lockExisting(resource('unified_job_template'), templates);
  }

  async prepareCreate(sent: ValuesOf<Schedule>): Promise<Prepared<Schedule>> {
    const values = { ...sent, ...readExtraData(sent) };
    const errors: FieldErrors = {};
    const template = await this.template(
      existing(values.unified_job_template, 'a required reference is given'),
    );
    const times = await this.times(values, errors);
    Object.assign(errors, await this.templateFaults(template), savedFaults(values, {}, template));
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    // Reserves the id first, because secret answers are encrypted for the id of their row.
    const id = await this.schedules.takeId();
    const target = { table: this.schedules.table, id };
    const saved = sealSaved(this.box, target, values, template);
    return { values: saved.values, columns: { ...times, id, ...saved.columns } };
  }

  async created(row: RowOf<Schedule>): Promise<void> {
    await this.next.refresh([row]);
  }

  async prepareUpdate(row: RowOf<Schedule>, sent: ValuesOf<Schedule>): Promise<Prepared<Schedule>> {
    const values = { ...sent, ...readExtraData(sent) };
    const errors: FieldErrors = {};
    const isTimed = 'rrule' in values || values.enabled === true;
    // A schedule whose rule cannot be evaluated can still be disabled.
    const untimed = values.enabled === false ? { next_run: null } : {};
    const times = isTimed ? await this.times({ ...row, ...values }, errors) : untimed;
    const template = await this.template(row.unified_job_template_id);
    Object.assign(errors, savedFaults(values, row, template));
    if ('unified_job_template' in values) {
      errors.unified_job_template = ['A schedule cannot be moved to another template.'];
    }
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    if (!('extra_data' in values)) return { columns: times };
    const former = row.survey_passwords;
    const target = { table: this.schedules.table, id: row.id };
    const saved = sealSaved(this.box, target, values, template, former);
    return { values: saved.values, columns: { ...times, ...saved.columns } };
  }

  async updated(before: RowOf<Schedule>): Promise<void> {
    await this.next.refresh([before]);
  }

  async prepareDelete(row: RowOf<Schedule>): Promise<void> {
    await this.next.refresh([row], row.id);
  }

  private async template(id: number): Promise<SavedLaunchTarget> {
    return entryOf(await this.targets.templates([id]), id);
  }

  private async templateFaults({ id, type }: SavedLaunchTarget): Promise<FieldErrors> {
    if (!LAUNCHABLE_TYPES.includes(type)) {
      return { unified_job_template: ['Templates of this kind cannot be scheduled.'] };
    }
    if (type !== 'project') return {};
    const isManual = await this.projects.existsBy({ id, scm_type: '' });
    return isManual ? { unified_job_template: ['Manual Project cannot have a schedule set.'] } : {};
  }

  /**
   * Returns the columns that depend on the rule, by the database's clock. Adds its errors to `errors`. The
   * transaction can have waited for the launch of an occurrence, so its start time is too early: the schedule
   * would be due again for this occurrence, which cannot be launched twice.
   */
  private async times(
    { rrule, enabled }: ValuesOf<Schedule>,
    errors: FieldErrors,
  ): Promise<ExtraColumns> {
    try {
      const recurrence = Recurrence.parse(String(rrule));
      const clock = await this.database.rowOrFail<{ now: Date }>(sql`
        SELECT clock_timestamp() AS now`);
      return {
        dtstart: await recurrence.first(),
        dtend: await recurrence.last(),
        next_run: enabled === true ? await recurrence.after(new Date(clock.now)) : null,
      };
    } catch (error) {
      if (!(error instanceof RuleTextError)) throw error;
      Object.assign(errors, error.errors);
      return {};
    }
  }
}
