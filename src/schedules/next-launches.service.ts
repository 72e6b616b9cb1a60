import { Injectable } from '@nestjs/common';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { comingSchedules } from './schedules.repository.js';

/** Updates the next scheduled launch of templates. */
@Injectable()
export class NextLaunches {
  constructor(private readonly templates: TemplatesRepository) {}

  /** @param leaving schedule that is about to be deleted */
  async follow(templateIds: readonly number[], leaving: number | null = null): Promise<void> {
    await this.templates.showNextLaunches(comingSchedules(templateIds, leaving));
  }
}
