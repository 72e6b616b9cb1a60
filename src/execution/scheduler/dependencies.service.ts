import { Injectable } from '@nestjs/common';
import { existing } from '../../common/invariants.js';
import { ProjectUpdatesRepository } from '../../projects/project-updates.repository.js';
import { previousTask } from '../../runs/run-explanations.js';
import { RunQueueRepository, type BrokenJob } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';

/** Jobs looked at in one pass; the next pass follows at once when there were as many. */
const BATCH = 2000;

/** What must have happened before a job may start (docs/contract/runs.md#dependencies). */
@Injectable()
export class Dependencies {
  constructor(
    private readonly queue: RunQueueRepository,
    private readonly projectUpdates: ProjectUpdatesRepository,
    private readonly transitions: RunTransitions,
  ) {}

  /**
   * Decides once for every new job which project sync it has to wait for, and creates the missing
   * ones: one per project, shared by all jobs of this pass.
   *
   * @returns whether more jobs are left to be looked at
   */
  async settle(): Promise<boolean> {
    const jobs = await this.queue.unsettled(BATCH);
    if (jobs.length === 0) return false;
    const wanting = jobs.filter((job) => job.wants_sync && job.active_update_id === null);
    const projectIds = [...new Set(wanting.flatMap((job) => job.project_id ?? []))];
    const created =
      projectIds.length > 0 ? await this.createUpdates(projectIds) : new Map<number, number>();
    await this.queue.settle(
      jobs.map(({ id, wants_sync, active_update_id, project_id }) => ({
        id,
        updateId:
          wants_sync && project_id !== null
            ? (active_update_id ?? created.get(project_id) ?? null)
            : null,
      })),
    );
    return jobs.length === BATCH;
  }

  /** Ends the pending jobs whose dependency did not succeed; a canceled one cancels them. */
  async endBroken(): Promise<void> {
    const broken = await this.queue.broken();
    const isCanceled = ({ status }: BrokenJob) => status === 'canceled';
    await this.transitions.move(
      broken.filter((job) => !isCanceled(job)).map((job) => explained(job, 'Failed')),
      { from: ['pending'], to: 'failed' },
    );
    await this.transitions.move(
      broken.filter(isCanceled).map((job) => explained(job, 'Canceled')),
      { from: ['pending'], to: 'canceled' },
    );
  }

  /** @returns id of the new sync by project */
  private async createUpdates(projectIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.projectUpdates.insertOf(projectIds, {
      launchType: 'dependency',
      status: 'pending',
    });
    await this.transitions.created(rows);
    return new Map(
      rows.map((row) => [
        existing(row.unified_job_template_id, 'an update is one of a project'),
        row.id,
      ]),
    );
  }
}

const explained = (job: BrokenJob, end: 'Failed' | 'Canceled') => ({
  id: job.id,
  explanation: previousTask(end, { type: job.type, name: job.name, id: job.dependency_id }),
});
