import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { variablesText } from '../common/fields/json-text.js';
import { Database } from '../database/database.js';
import type { LaunchCheck, RunRequest } from '../runs/launcher.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { planOf, UpdateLauncher, type NewUpdate } from '../runs/update-launcher.js';
import { variableFaults } from './system-job-variables.js';
import { SystemJobsRepository } from './system-jobs.repository.js';

interface SystemJobRequest extends RunRequest {
  prompts?: { extra_vars?: Readonly<Record<string, unknown>> };
}

const variablesOf = ({ prompts }: SystemJobRequest) => prompts?.extra_vars ?? {};

/** Starts system jobs. Their only launch field is `extra_vars`. */
@Injectable()
export class SystemJobLauncher extends UpdateLauncher {
  protected readonly templateField = 'system_job_template';
  protected readonly noUpdate = 'The system job template was deleted.';

  constructor(
    database: Database,
    transitions: RunTransitions,
    activity: ActivityRecorder,
    private readonly jobs: SystemJobsRepository,
  ) {
    super(database, transitions, activity);
  }

  override plan(requests: readonly SystemJobRequest[]): Promise<LaunchCheck[]> {
    return Promise.resolve(
      requests.map((request) => {
        const faults = variableFaults(variablesOf(request));
        return planOf(request, faults.length > 0 ? { extra_vars: faults } : {});
      }),
    );
  }

  protected insert(requests: readonly SystemJobRequest[]): Promise<NewUpdate[]> {
    const variables = requests.map((request) => variablesText(variablesOf(request)));
    return this.jobs.insertOf(requests, variables);
  }
}
