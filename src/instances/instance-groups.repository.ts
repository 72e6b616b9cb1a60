import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { GroupPolicy, GroupInstance } from './group-members.js';
import { InstanceGroup } from './instance-group.entity.js';
import { liveNodes, readyMachines } from './worker-nodes.repository.js';

/** Name of the group that contains every machine. */
export const DEFAULT_GROUP = 'default';

export interface GroupOverview {
  name: string;
  capacity: number;
  instances: string[];
}

/** An instance group of a launch or of its template. */
export interface UsableInstanceGroup {
  id: number;
  name: string;
  may_use: boolean;
}

/** Returns a query for the groups of a machine. */
export const groupsOf = (instance: Sql): Sql => sql`
  SELECT id FROM instance_groups WHERE name = ${DEFAULT_GROUP}
  UNION ALL SELECT instance_group_id FROM instance_group_instances WHERE instance_id = ${instance}`;

/** A group that executes runs, and one of its live, enabled machines. */
export interface GroupMachine {
  group_id: number;
  /** Maximum number of concurrent runs; 0 for no limit. */
  max_concurrent_jobs: number;
  /** Maximum number of concurrent forks; 0 for no limit. */
  max_forks: number;
  hostname: string;
  /** Number of runs that the workers of the machine can execute concurrently. */
  slots: number;
  /** Capacity of the machine in forks. */
  capacity: number;
  /** True if the machine can run containers. */
  has_engine: boolean;
}

/**
 * Returns a query for the groups with their machines that accept runs: the columns of `GroupMachine`. A
 * container group has no machines.
 */
const groupMachines = (): Sql => sql`
  SELECT g.id AS group_id, g.max_concurrent_jobs, g.max_forks, machine.hostname,
    machine.slots, machine.capacity, machine.has_engine
  FROM instance_groups g
  JOIN (${readyMachines()}) machine ON g.name = ${DEFAULT_GROUP} OR EXISTS (
    SELECT 1 FROM instance_group_instances
    WHERE instance_group_id = g.id AND instance_id = machine.id)
  WHERE NOT g.is_container_group`;

/**
 * Returns the SQL condition that a run of a group may start on a machine.
 *
 * @param needsEngine SQL condition that the run needs a container engine
 */
export const mayStartOn = (group: Sql, hostname: Sql, needsEngine: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM (${groupMachines()}) machine
    WHERE machine.group_id = ${group} AND machine.hostname = ${hostname}
      AND (machine.has_engine OR NOT (${needsEngine})))`;

/** Kinds of objects that prefer instance groups for their runs. */
type GroupOwner = 'job_template' | 'inventory' | 'organization';

/** Returns a query for the preferred groups of an object: `id` and `position`. */
export const preferredGroupsOf = (type: GroupOwner, id: Sql): Sql => sql`
  SELECT instance_group_id AS id, id AS position FROM ${ident(`${type}_instance_groups`)}
  WHERE ${ident(`${type}_id`)} = ${id}`;

/**
 * Returns the statement that copies the preferred groups of an object to its copy, except groups that the
 * caller may not use.
 */
export const copyPreferredGroups = (
  type: GroupOwner,
  { original, copy }: { original: number; copy: number },
  actor: Actor,
): Sql => sql`
  INSERT INTO ${ident(`${type}_instance_groups`)} (${ident(`${type}_id`)}, instance_group_id)
  SELECT ${copy}, id FROM (${preferredGroupsOf(type, sql`${original}`)}) preferred
  JOIN (${usableGroups(actor)}) usable USING (id)
  ORDER BY position`;

/** Returns a query for the ids of the groups that the caller may use. */
export const usableGroups = (actor: Actor): Sql => sql`
  SELECT g.id FROM instance_groups g
  WHERE ${permitOrAny('instance_group', 'use', 'g', actor)}`;

/** Returns an SQL array with the default group. */
export const defaultGroups = (): Sql =>
  sql`ARRAY(SELECT id FROM instance_groups WHERE name = ${DEFAULT_GROUP})`;

/** Returns a query for the names of groups, for joins in statements about other tables. */
export const groupNames = (): Sql => sql`SELECT id, name FROM instance_groups`;

/** Returns an SQL array with all groups. */
export const existingGroups = (): Sql => sql`ARRAY(SELECT id FROM instance_groups)`;

/** Returns joins of groups `g` to all their instances `inst`, and to the instances `ready` for runs. */
const joinMembers = (): Sql => sql`
  LEFT JOIN instances inst ON g.name = ${DEFAULT_GROUP} OR EXISTS (
    SELECT 1 FROM instance_group_instances WHERE instance_group_id = g.id AND instance_id = inst.id)
  LEFT JOIN (${readyMachines()}) ready ON ready.id = inst.id`;

/**
 * Returns a query for the state of each group, for explanations of runs that wait for capacity: `id`,
 * `text` and `has_engine`.
 *
 * @param usage query for the load of machines, with the columns `hostname`, `runs` and `forks`
 */
export const groupStates = (usage: Sql): Sql => sql`
  SELECT g.id, coalesce(bool_or(ready.has_engine), false) AS has_engine,
    CASE WHEN g.is_container_group THEN g.name || ' (a container group: jobs do not run in pods)'
      ELSE format('%s (%s of %s instances ready', g.name, count(ready.id), count(inst.id))
        || CASE WHEN count(ready.id) = 0 THEN '' ELSE format(', %s of %s forks and %s of %s places free',
            sum(greatest(0, ready.capacity - coalesce(used.forks, 0))), sum(ready.capacity),
            sum(greatest(0, ready.slots - coalesce(used.runs, 0))), sum(ready.slots)) END
        || coalesce('; at most ' || nullif(concat_ws(' and ',
            nullif(g.max_concurrent_jobs, 0) || ' jobs', nullif(g.max_forks, 0) || ' forks'), '')
            || ' at once', '') || ')' END AS text
  FROM instance_groups g ${joinMembers()}
  LEFT JOIN (
    SELECT hostname, sum(runs) AS runs, sum(forks) AS forks FROM (${usage}) given GROUP BY hostname) used
    ON used.hostname = ready.hostname
  GROUP BY g.id`;

/** Returns the statement that adds a machine to the policy list of a group, or removes it. */
export const updatePolicyList = (group: number, hostname: string, isListed: boolean): Sql => sql`
  UPDATE instance_groups SET policy_instance_list = to_json(
    ARRAY(SELECT value FROM json_array_elements_text(policy_instance_list)
      WHERE value <> ${hostname}) || ${isListed ? [hostname] : []}::text[])
  WHERE id = ${group}`;

@Injectable()
export class InstanceGroupsRepository extends TableRepository<RowOf<InstanceGroup>> {
  constructor(@InjectRepository(InstanceGroup) repository: Repository<InstanceGroup>) {
    super(repository);
  }

  /**
   * Returns groups with the fields that launches need.
   *
   * @param actor caller; null: no permission check
   */
  usable(ids: readonly number[], actor: Actor | null): Promise<UsableInstanceGroup[]> {
    return this.database.preparedRows<UsableInstanceGroup>(sql`
      SELECT g.id, g.name, (${permitOrAny('instance_group', 'use', 'g', actor)}) AS may_use
      FROM instance_groups g WHERE g.id = ANY(${ids}::int[])`);
  }

  /** Returns the groups with their capacity and the names of their instances. */
  overview(): Promise<GroupOverview[]> {
    return this.database.rows<GroupOverview>(sql`
      SELECT g.name, coalesce(sum(ready.capacity), 0)::int AS capacity,
        array_remove(array_agg(inst.hostname ORDER BY inst.hostname), NULL) AS instances
      FROM instance_groups g ${joinMembers()} GROUP BY g.id ORDER BY g.name`);
  }

  /** Returns the groups with their live, enabled machines. */
  machines(): Promise<GroupMachine[]> {
    return this.database.rows<GroupMachine>(sql`${groupMachines()} ORDER BY group_id, hostname`);
  }

  /** Returns the groups whose members follow from policies, and their current members. */
  policies(): Promise<(GroupPolicy & { members: number[] })[]> {
    return this.database.rows(sql`
      SELECT g.id, g.policy_instance_percentage AS percentage, g.policy_instance_minimum AS minimum,
        ARRAY(SELECT inst.id FROM json_array_elements_text(g.policy_instance_list)
            WITH ORDINALITY AS listed(hostname, position)
          JOIN instances inst USING (hostname) ORDER BY listed.position) AS listed,
        ARRAY(SELECT instance_id FROM instance_group_instances WHERE instance_group_id = g.id
          ORDER BY instance_id) AS members
      FROM instance_groups g WHERE g.name <> ${DEFAULT_GROUP} ORDER BY g.id`);
  }

  /** Returns the machines with live workers that policies may choose, by id. */
  eligible(): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM instances
      WHERE managed_by_policy AND hostname IN (SELECT hostname FROM (${liveNodes()}) node)
      ORDER BY id`);
  }

  async changeMembers(
    added: readonly GroupInstance[],
    removed: readonly GroupInstance[],
  ): Promise<void> {
    const pairs = (members: readonly GroupInstance[]): Sql => sql`
      unnest(${members.map(({ group }) => group)}::int[], ${members.map(({ machine }) => machine)}::int[])
        AS member(group_id, machine_id)`;
    if (removed.length > 0) {
      await this.database.execute(sql`
        DELETE FROM instance_group_instances link USING ${pairs(removed)}
        WHERE link.instance_group_id = member.group_id AND link.instance_id = member.machine_id`);
    }
    if (added.length > 0) {
      await this.database.execute(sql`
        INSERT INTO instance_group_instances (instance_group_id, instance_id)
        SELECT member.group_id, member.machine_id FROM ${pairs(added)}
        ON CONFLICT DO NOTHING`);
    }
  }
}
