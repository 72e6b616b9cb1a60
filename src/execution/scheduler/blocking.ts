import type { SimilarRuns, PendingRun } from '../../runs/run-queue.repository.js';

/** A pending run whose dependencies are determined. */
export interface Candidate extends PendingRun {
  /** Properties that the run shares with other runs. */
  runs: SimilarRuns;
}

/** Key of all system job templates, whose jobs run one at a time. */
const SYSTEM_JOBS = 0;

/**
 * Returns the pending runs whose dependencies are determined, each with the run that blocks it, or null if
 * it only waits for capacity. These runs are blocked:
 * - a project update by another update of its project;
 * - a system job by another system job;
 * - an ad hoc command by an update or another command on its inventory;
 * - an inventory update by its dependencies, an update of its project, another update of its source, and
 *   updates of its input inventories;
 * - a job by its dependencies, an update of its project, an update or a command on its inventory, and a run
 *   of its template unless simultaneous runs are allowed.
 *
 * A run is only blocked by assigned runs and by earlier pending runs, so no run overtakes another run of its
 * queue, and queues do not wait for each other.
 */
export function candidates(active: readonly SimilarRuns[]): Candidate[] {
  const ofTemplate = new Earliest(active, templateOf);
  const projectUpdates = new Earliest(active, (runs) =>
    runs.type === 'project_update' ? runs.template_id : null,
  );
  const inventoryUsers = new Earliest(active, (runs) =>
    runs.type === 'inventory_update' || runs.type === 'ad_hoc_command' ? runs.inventory_id : null,
  );
  const blockerOf = (id: number, runs: SimilarRuns): number | null => {
    const sameTemplate = () => ofTemplate.before(id, templateOf(runs));
    const inventoryUser = () => inventoryUsers.before(id, runs.inventory_id);
    if (runs.type === 'project_update' || runs.type === 'system_job') return sameTemplate();
    if (runs.type === 'ad_hoc_command') return inventoryUser();
    return (
      runs.awaited_id ??
      projectUpdates.before(id, runs.project_id) ??
      (runs.type === 'job' ? inventoryUser() : null) ??
      (runs.allow_simultaneous ? null : sameTemplate())
    );
  };
  return active
    .filter((runs) => runs.is_pending && runs.is_settled)
    .flatMap((runs) => runs.ids.map((id) => ({ id, runs, blockerId: blockerOf(id, runs) })));
}

/**
 * Returns the runs that can start, in the order of the queue. An update that a run waits for comes first,
 * because the run already has its position in the queue.
 */
export const startable = (all: readonly Candidate[]): Candidate[] =>
  all
    .filter(({ blockerId }) => blockerId === null)
    .sort(
      (left, right) =>
        Number(right.runs.is_dependency) - Number(left.runs.is_dependency) || left.id - right.id,
    );

const templateOf = ({ type, template_id: id }: SimilarRuns): number | null =>
  type === 'system_job' ? SYSTEM_JOBS : id;

/** The earliest run of each key: among the assigned runs, and among all runs. */
class Earliest {
  private readonly placed = new Map<number, number>();
  private readonly all = new Map<number, number>();

  constructor(active: readonly SimilarRuns[], keyOf: (runs: SimilarRuns) => number | null) {
    for (const runs of active) {
      const key = keyOf(runs);
      if (key === null) continue;
      const first = runs.ids.reduce((least, id) => Math.min(least, id));
      for (const firstRuns of runs.is_pending ? [this.all] : [this.placed, this.all]) {
        firstRuns.set(key, Math.min(first, firstRuns.get(key) ?? first));
      }
    }
  }

  /** Returns the run with the same key that a pending run waits for; null if there is none. */
  before(id: number, key: number | null): number | null {
    if (key === null) return null;
    const first = this.all.get(key) ?? id;
    return this.placed.get(key) ?? (first < id ? first : null);
  }
}
