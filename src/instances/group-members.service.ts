import { Injectable } from '@nestjs/common';
import { QueuePort } from '../common/queue/queue.port.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { membersByPolicy, type GroupInstance } from './group-members.js';
import { InstanceGroupsRepository } from './instance-groups.repository.js';

/** Key of the advisory lock on members of groups, unique in this database. */
const MEMBERS_LOCK = 7_304;

/** Updates the members of instance groups according to their policies. */
@Injectable()
export class GroupMembers {
  constructor(
    private readonly database: Database,
    private readonly groups: InstanceGroupsRepository,
    private readonly queue: QueuePort,
  ) {}

  /** Computes the members again and writes the differences, in the caller's transaction. */
  async refresh(): Promise<void> {
    if ((await this.groups.policies()).length === 0) return;
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${MEMBERS_LOCK})`);
    const policies = await this.groups.policies();
    const wanted = membersByPolicy(policies, await this.groups.eligible());
    const current = policies.flatMap(({ id: group, members }) =>
      members.map((machine): GroupInstance => ({ group, machine })),
    );
    await this.groups.changeMembers(without(wanted, current), without(current, wanted));
  }

  /** Updates the members after a change by a request, and wakes the scheduler after the commit. */
  async changed(): Promise<void> {
    await this.refresh();
    this.database.afterCommit(() => this.queue.wakeScheduler());
  }
}

function without(
  members: readonly GroupInstance[],
  others: readonly GroupInstance[],
): GroupInstance[] {
  const known = new Set(others.map(({ group, machine }) => `${group}:${machine}`));
  return members.filter(({ group, machine }) => !known.has(`${group}:${machine}`));
}
