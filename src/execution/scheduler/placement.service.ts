import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { GroupMembers } from '../../instances/group-members.service.js';
import { InstanceGroupsRepository } from '../../instances/instance-groups.repository.js';
import { RunQueueRepository, type Preference } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { Room, type RunPlace } from './room.js';

/** Maximum number of runs started per pass; if a pass reaches it, the next one follows at once. */
const MAX_STARTS = 500;
/** Maximum number of runs read at a time. */
const BATCH = 1000;

/**
 * Assigns pending runs to instances (docs/contract/runs.md#placement): in launch order, each to the first
 * instance group it prefers that has room.
 */
@Injectable()
export class Placement {
  constructor(
    private readonly queue: RunQueueRepository,
    private readonly groups: InstanceGroupsRepository,
    private readonly members: GroupMembers,
    private readonly transitions: RunTransitions,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Places pending runs.
   *
   * @returns true if more runs can be ready than one pass takes
   */
  async place(): Promise<boolean> {
    await this.members.refresh();
    await this.takeBack();
    const preferred = await this.preferences();
    const room = new Room(await this.groups.machines(), await this.queue.usage());
    for (let started = 0; started < MAX_STARTS;) {
      const open = room.openTo(preferred);
      // For each group as many as can start, because the first groups of the queue can be full soon.
      const count = new Set([...open.all, ...open.withEngine]).size;
      const most = Math.min(room.size * count, BATCH);
      const ready = most > 0 ? await this.queue.ready(open, most) : [];
      const placed = new Map<number, RunPlace>();
      for (const run of ready) {
        if (started + placed.size === MAX_STARTS) break;
        const place = room.occupy(run.preferred_groups, run);
        if (place) placed.set(run.id, place);
      }
      await this.assign(placed);
      started += placed.size;
      // A full group can have kept the runs of others out of the answer.
      if (ready.length < most || ready.length === 0) return started === MAX_STARTS;
    }
    return true;
  }

  /** Updates the explanations of runs that have been pending for a while. */
  explain(): Promise<void> {
    return this.queue.explain();
  }

  private async preferences(): Promise<Preference[]> {
    const found = await this.queue.preferences();
    if (found.every((one) => one.is_chosen)) return found;
    await this.queue.chooseGroups();
    return this.queue.preferences();
  }

  /** Takes runs back from instances that are gone, disabled or no longer in the group. */
  private async takeBack(): Promise<void> {
    const stranded = await this.queue.stranded();
    await this.transitions.move(stranded, { from: ['waiting'], to: 'pending' });
    await this.outbox.acknowledge('runs', ...stranded);
  }

  /** Assigns runs in one step, so that the number of statements does not depend on their number. */
  private async assign(placed: ReadonlyMap<number, RunPlace>): Promise<void> {
    const moved = await this.transitions.move([...placed.keys()], {
      from: ['pending'],
      to: 'waiting',
      places: placed,
    });
    const started = moved.map(({ id }) => id).sort((left, right) => left - right);
    const machines = new Map([...placed].map(([id, { hostname }]) => [id, hostname]));
    await this.outbox.add('runs', started, machines);
  }
}
