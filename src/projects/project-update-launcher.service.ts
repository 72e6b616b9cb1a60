import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { Database } from '../database/database.js';
import type { RunRequest } from '../runs/launcher.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { UpdateLauncher, type NewUpdate } from '../runs/update-launcher.js';
import { ProjectUpdatesRepository } from './project-updates.repository.js';

/** Starts updates of projects. Manual projects have no updates. */
@Injectable()
export class ProjectUpdateLauncher extends UpdateLauncher {
  protected readonly templateField = 'project';
  protected readonly noUpdate = 'The project has no source to be updated from.';

  constructor(
    database: Database,
    transitions: RunTransitions,
    activity: ActivityRecorder,
    private readonly updates: ProjectUpdatesRepository,
  ) {
    super(database, transitions, activity);
  }

  protected insert(requests: readonly RunRequest[]): Promise<NewUpdate[]> {
    return this.updates.insertOf(requests);
  }
}
