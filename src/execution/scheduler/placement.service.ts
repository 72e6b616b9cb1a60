import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { GroupMembers } from '../../instances/group-members.service.js';
import { InstanceGroupsRepository } from '../../instances/instance-groups.repository.js';
import { RunQueueRepository } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { Room, type RunPlace } from './room.js';

/** Maximum number of runs started per pass; if a pass reaches it, the next one follows at once. */
const MAX_STARTS = 500;

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
    await this.queue.chooseGroups();
    const room = new Room(await this.groups.machines(), await this.queue.usage());
    for (let started = 0; started < MAX_STARTS;) {
      const most = Math.min(room.size, MAX_STARTS - started);
      const open = { all: room.open(), withEngine: room.open(true) };
      const ready = most > 0 ? await this.queue.ready(open, most) : [];
      const placed = new Places();
      for (const run of ready) {
        placed.add(run.id, room.occupy(run.preferred_groups, run));
      }
      await this.assign(placed);
      started += placed.size;
      // A full group can have kept the runs of others out of the answer.
      if (ready.length < most || ready.length === 0) return false;
    }
    return true;
  }

  /** Updates the explanations of runs that have been pending for a while. */
  explain(): Promise<void> {
    return this.queue.explain();
  }

  /** Takes runs back from instances that are gone, disabled or no longer in the group. */
  private async takeBack(): Promise<void> {
    const stranded = await this.queue.stranded();
    await this.transitions.move(stranded, { from: ['waiting'], to: 'pending' });
    await this.outbox.acknowledge('runs', ...stranded);
  }

  private async assign(places: Places): Promise<void> {
    for (const { place, ids } of places.all) {
      const placed = await this.transitions.move(ids, {
        from: ['pending'],
        to: 'waiting',
        fields: { execution_node: place.hostname, instance_group_id: place.group },
      });
      await this.outbox.add(
        'runs',
        placed.map(({ id }) => id).sort((left, right) => left - right),
        place.hostname,
      );
    }
  }
}

/** Runs by their place, so that the number of statements does not depend on the number of runs. */
class Places {
  private readonly byPlace = new Map<string, { place: RunPlace; ids: number[] }>();

  get all(): Iterable<{ place: RunPlace; ids: number[] }> {
    return this.byPlace.values();
  }

  get size(): number {
    return [...this.byPlace.values()].reduce((total, { ids }) => total + ids.length, 0);
  }

  add(id: number, place: RunPlace | null): void {
    if (!place) return;
    const key = `${place.group} ${place.hostname}`;
    const found = this.byPlace.get(key) ?? { place, ids: [] };
    found.ids.push(id);
    this.byPlace.set(key, found);
  }
}
