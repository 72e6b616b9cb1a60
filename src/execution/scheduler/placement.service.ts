import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { GroupMembers } from '../../instances/group-members.service.js';
import { InstanceGroupsRepository } from '../../instances/instance-groups.repository.js';
import { RunQueueRepository, type SimilarRuns } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { candidates, startable } from './blocking.js';
import { FreeCapacity, type RunAssignment } from './free-capacity.js';

/**
 * Maximum number of runs started per pass, which keeps the transaction short. A pass that reaches the limit
 * is repeated immediately.
 */
const MAX_STARTS = 25;

/**
 * Assigns pending runs to instances (docs/contract/runs.md#placement): in launch order, each run to its
 * first preferred instance group with capacity.
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
   * @returns true if the pass reached its limit, so that more runs can be ready
   */
  async place(): Promise<boolean> {
    await this.members.refresh();
    await this.withdrawStranded();
    const pending = candidates(await this.activeRuns());
    const capacity = new FreeCapacity(await this.groups.machines(), await this.queue.usage());
    const assigned = new Map<number, RunAssignment>();
    const refused = new Set<SimilarRuns>();
    for (const { id, runs } of startable(pending)) {
      if (assigned.size === MAX_STARTS) break;
      if (refused.has(runs)) continue;
      const assignment = capacity.reserve(runs.preferred_groups, runs);
      if (assignment) assigned.set(id, assignment);
      else refused.add(runs);
    }
    return (await this.assign(assigned)) === MAX_STARTS;
  }

  /** Updates the explanations of runs that have been pending for a while. */
  async explain(): Promise<void> {
    await this.queue.explain(candidates(await this.queue.active()));
  }

  private async activeRuns(): Promise<SimilarRuns[]> {
    const found = await this.queue.active();
    if (found.every((runs) => runs.has_groups || !runs.is_pending || !runs.is_settled))
      return found;
    await this.queue.chooseGroups();
    return this.queue.active();
  }

  /** Withdraws runs from instances that are gone, disabled or no longer in the group. */
  private async withdrawStranded(): Promise<void> {
    const stranded = await this.queue.stranded();
    await this.transitions.move(stranded, { from: ['waiting'], to: 'pending' });
    await this.outbox.acknowledge('runs', ...stranded);
  }

  /**
   * Assigns runs in one step; the number of statements does not depend on the number of runs.
   *
   * @returns number of assigned runs
   */
  private async assign(assigned: ReadonlyMap<number, RunAssignment>): Promise<number> {
    const moved = await this.transitions.move([...assigned.keys()], {
      from: ['pending'],
      to: 'waiting',
      placements: assigned,
    });
    const started = moved.map(({ id }) => id).sort((left, right) => left - right);
    const machines = new Map([...assigned].map(([id, { hostname }]) => [id, hostname]));
    await this.outbox.add('runs', started, machines);
    return started.length;
  }
}
