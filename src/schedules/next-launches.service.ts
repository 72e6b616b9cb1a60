import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { RunSignals } from '../runs/run-signals.service.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { nextSchedules } from './schedules.repository.js';

/** A schedule whose next launch can have changed. */
interface ChangedSchedule {
  id: number;
  unified_job_template_id: number;
}

/** Updates the next scheduled launch of templates. */
@Injectable()
export class NextLaunches {
  constructor(
    private readonly database: Database,
    private readonly templates: TemplatesRepository,
    private readonly signals: RunSignals,
  ) {}

  /** @param except schedule that is about to be deleted */
  async refresh(changed: readonly ChangedSchedule[], except: number | null = null): Promise<void> {
    const templates = [...new Set(changed.map(({ unified_job_template_id: id }) => id))];
    // A statement of its own: the next one sees schedules that were committed during the wait.
    await this.templates.lock(templates);
    await this.templates.showNextLaunches(nextSchedules(templates, except));
    this.database.afterCommit(() => this.signals.announceSchedules(changed.map(({ id }) => id)));
  }
}
