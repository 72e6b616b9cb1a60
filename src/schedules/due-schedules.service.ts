import { Injectable } from '@nestjs/common';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { failPoint } from '../common/fail-point.js';
import { resultOr, textOfErrors } from '../common/errors/errors.js';
import { zip } from '../common/invariants.js';
import { partsBySize } from '../common/parts.js';
import { Launchers, type TypedRequest } from '../launching/launchers.service.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { openSaved } from '../prompts/saved-prompts.js';
import type { Prompts } from '../prompts/launch-options.js';
import { NextLaunches } from './next-launches.service.js';
import { Recurrence } from './recurrence.js';
import { SchedulesRepository, type DueSchedule } from './schedules.repository.js';

/** Maximum number of schedules per pass. If a pass reaches the maximum, the next pass follows immediately. */
const BATCH = 200;
/**
 * Time after which a pass launches the schedules whose next occurrences it has computed: rules that
 * take long must not let PostgreSQL end the transaction, nor delay runs of other templates.
 */
const MAX_PLANNING_MS = 5000;
const INVALID_RULE = 'The rule of this schedule cannot be evaluated. Set a new rule.';
const NO_KEY = 'The secret variables of this schedule cannot be decrypted with the current keys.';

/** Result of a schedule in a pass. */
interface Outcome {
  schedule: DueSchedule;
  occurrence: Date;
  next: Date | null;
  /** Prompts of the launch; null if there is no launch, for the reason in `explanation`. */
  prompts: Prompts | null;
  explanation: string;
}

/**
 * Launches due schedules, by the database's clock. A schedule is locked, launched and moved to its
 * next occurrence in one transaction, so that each occurrence is launched once, even if a worker
 * dies. If occurrences were missed, only the newest is launched.
 */
@Injectable()
export class DueSchedules {
  constructor(
    private readonly runs: RunsRepository,
    private readonly schedules: SchedulesRepository,
    private readonly box: SecretBox,
    private readonly settings: RuntimeSettings,
    private readonly launchers: Launchers,
    private readonly next: NextLaunches,
  ) {}

  /**
   * Launches due schedules, in the caller's transaction. Several workers can launch at the same time.
   *
   * @returns true if more schedules can be due
   */
  async launchDue(): Promise<boolean> {
    const locked = await this.schedules.lockDue(BATCH);
    if (locked.length === 0) return false;
    const [read = []] = partsBySize(locked, ({ size }) => size);
    const due = await this.schedules.locked(read.map(({ id }) => id));
    const outcomes: Outcome[] = [];
    const end = Date.now() + MAX_PLANNING_MS;
    for (const schedule of due) {
      outcomes.push(await this.plan(schedule));
      if (Date.now() > end) break;
    }
    await this.skipExcess(outcomes);
    await this.launch(outcomes);
    await this.store(outcomes);
    failPoint('schedule-launched');
    return locked.length === BATCH || outcomes.length < locked.length;
  }

  private async plan(schedule: DueSchedule): Promise<Outcome> {
    const recurrence = Recurrence.parseStored(schedule.rrule);
    const now = new Date(schedule.now);
    const known = new Date(schedule.next_run);
    if (!recurrence) {
      return { schedule, occurrence: known, next: null, prompts: null, explanation: INVALID_RULE };
    }
    const occurrence = await recurrence.newest(known, now);
    const prompts = this.promptsOf(schedule);
    return {
      schedule,
      occurrence,
      next: await recurrence.after(now),
      prompts,
      explanation: prompts ? '' : NO_KEY,
    };
  }

  /**
   * Returns the prompts; null if the secret answers cannot be decrypted, so that the other
   * schedules are still launched.
   */
  private promptsOf(schedule: DueSchedule): Prompts | null {
    return resultOr(() => openSaved(this.box, 'schedules', schedule), null, UnsealError);
  }

  /** Drops launches of templates that have reached the maximum number of active runs. */
  private async skipExcess(outcomes: readonly Outcome[]): Promise<void> {
    const { SCHEDULE_MAX_JOBS: max } = await this.settings.get('SCHEDULE_MAX_JOBS');
    const ids = outcomes.map(({ schedule }) => schedule.unified_job_template_id);
    const active = await this.runs.countActive(ids);
    for (const outcome of outcomes) {
      const { unified_job_template_id: id } = outcome.schedule;
      const count = active.get(id) ?? 0;
      if (outcome.prompts === null) continue;
      if (count < max) active.set(id, count + 1);
      else {
        outcome.prompts = null;
        outcome.explanation = `Skipped because the template has ${count} active jobs already (SCHEDULE_MAX_JOBS is ${max}).`;
      }
    }
  }

  /**
   * Creates the runs and links them to their occurrences. The database rejects a second run of an
   * occurrence.
   */
  private async launch(outcomes: readonly Outcome[]): Promise<void> {
    const launching = outcomes.filter(({ prompts }) => prompts !== null);
    const results = zip(launching, await this.launchers.launchPossible(launching.map(requestOf)));
    for (const [outcome, { errors }] of results) {
      if (Object.keys(errors).length > 0) outcome.explanation = textOfErrors(errors);
    }
    await this.runs.linkToSchedules(
      results.flatMap(([{ schedule, occurrence }, { run }]) =>
        run ? [{ id: run.id, scheduleId: schedule.id, occurrence }] : [],
      ),
    );
  }

  private async store(outcomes: readonly Outcome[]): Promise<void> {
    await this.schedules.store(
      outcomes.map(({ schedule: { id }, next: nextRun, occurrence, explanation }) => ({
        id,
        nextRun,
        occurrence,
        explanation,
      })),
    );
    await this.next.refresh(outcomes.map(({ schedule }) => schedule));
  }
}

const requestOf = ({ schedule, prompts }: Outcome): TypedRequest => ({
  templateType: schedule.template_type,
  templateId: schedule.unified_job_template_id,
  launchType: 'scheduled',
  prompts: prompts ?? {},
  // The survey that made them secret can have changed since.
  secretNames: Object.keys(schedule.survey_passwords),
  createdBy: null,
});
