import { Injectable } from '@nestjs/common';
import type { FieldErrors } from '../common/errors/errors.js';
import { zip } from '../common/invariants.js';
import type { LaunchRequest } from '../launching/launch-request.js';
import { LaunchService } from '../launching/launch.service.js';
import { InventoryUpdatesRepository } from '../inventory-sources/inventory-updates.repository.js';
import { ProjectUpdatesRepository } from '../projects/project-updates.repository.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { Prompts } from '../prompts/launch-options.js';
import { WorkflowLaunchService } from '../launching/workflow-launch.service.js';
import { RunsRepository } from '../runs/runs.repository.js';

/** One occurrence of a schedule to launch. */
export interface ScheduledLaunch {
  scheduleId: number;
  occurrence: Date;
  templateId: number;
  templateType: string;
  prompts: Prompts;
}

/** A launch with its run; null if no run could be created. */
interface Made extends Given {
  runId: number | null;
  errors: FieldErrors;
}

/** A launch with its index in the request. */
interface Given {
  index: number;
  launch: ScheduledLaunch;
}

/**
 * Creates the runs of schedules, in the caller's transaction and a constant number of statements.
 */
@Injectable()
export class ScheduledRuns {
  constructor(
    private readonly updates: ProjectUpdatesRepository,
    private readonly inventories: InventoryUpdatesRepository,
    private readonly runs: RunsRepository,
    private readonly transitions: RunTransitions,
    private readonly jobs: LaunchService,
    private readonly workflows: WorkflowLaunchService,
  ) {}

  /** @returns faults of each launch in order; empty for a launch with a run */
  async launch(launches: readonly ScheduledLaunch[]): Promise<FieldErrors[]> {
    const of = (type: string): Given[] =>
      launches.flatMap((launch, index) =>
        launch.templateType === type ? [{ index, launch }] : [],
      );
    const made = [
      ...(await this.launchWith(this.jobs, of('job_template'))),
      ...(await this.launchWith(this.workflows, of('workflow_job_template'))),
      ...(await this.update(this.updates, of('project'))),
      ...(await this.update(this.inventories, of('inventory_source'))),
    ];
    await this.sign(made);
    const errors = launches.map((): FieldErrors => ({}));
    for (const one of made) errors[one.index] = one.errors;
    return errors;
  }

  private async launchWith(
    launcher: LaunchService | WorkflowLaunchService,
    given: readonly Given[],
  ): Promise<Made[]> {
    if (given.length === 0) return [];
    const tried = await launcher.launchPossible(given.map(({ launch }) => requestOf(launch)));
    return zip(given, tried).map(([one, { run, errors }]) => ({
      ...one,
      runId: run?.id ?? null,
      errors,
    }));
  }

  private async update(
    updates: ProjectUpdatesRepository | InventoryUpdatesRepository,
    given: readonly Given[],
  ): Promise<Made[]> {
    if (given.length === 0) return [];
    const rows = await updates.insertOf(
      given.map(({ launch }) => launch.templateId),
      { launchType: 'scheduled', status: 'pending' },
    );
    await this.transitions.created(rows);
    return given.map((one): Made => {
      const { templateId } = one.launch;
      const at = rows.findIndex((row) => row.unified_job_template_id === templateId);
      const [run] = at < 0 ? [] : rows.splice(at, 1);
      // The project can have lost its source since the schedule was created.
      return run
        ? { ...one, runId: run.id, errors: {} }
        : { ...one, runId: null, errors: { project: [NO_SOURCE] } };
    });
  }

  /** Links the runs to their occurrences; the database refuses a second run of an occurrence. */
  private async sign(made: readonly Made[]): Promise<void> {
    await this.runs.signScheduled(
      made.flatMap(({ runId, launch: { scheduleId, occurrence } }) =>
        runId === null ? [] : [{ id: runId, scheduleId, occurrence }],
      ),
    );
  }
}

const NO_SOURCE = 'The project has no source to be updated from.';

const requestOf = ({ templateId, prompts }: ScheduledLaunch): LaunchRequest => ({
  templateId,
  launchType: 'scheduled',
  prompts,
  createdBy: null,
});
