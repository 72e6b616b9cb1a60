import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { and, ident, join, sql, TRUE, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { HostRow } from './ansible-inventory.js';
import { atAnySize } from './at-any-size.js';
import { inventoriesWithInputs } from './inventory-inputs.repository.js';
import type { HostSchema } from './inventory.schema.js';

/** Hosts that are in an organization and others that are to be, by name. */
export interface NamesOfHosts {
  /** Names, those to be added included. */
  total: number;
  /** Names that are new. */
  added: number;
}

/** Hosts that do not count because they change: all of an inventory, or one. */
export type UncountedHosts = { inventory: number } | { host: number };

/** Query for the names of the hosts of an inventory. */
export const hostNamesOf = (inventoryId: number): Sql => sql`
  SELECT name FROM hosts WHERE inventory_id = ${inventoryId}`;

/** How many hosts an inventory has, as a value of a statement. */
export const countHostsIn = (inventoryId: Sql): Sql => sql`(
  SELECT count(*) FROM hosts WHERE inventory_id = ${inventoryId})`;

/** Query for hosts as other tables' statements join them. */
export const allHosts = (): Sql => sql`SELECT id, inventory_id, name FROM hosts`;

/**
 * The hosts of an organization that a condition finds, as a condition on a row of hosts: of a name in
 * several inventories the host with the lowest id. Hosts that an inventory made of others are left out.
 *
 * @param matches condition on a row of hosts
 */
export function oneOfAName(
  alias: string,
  organizationId: number,
  matches: (alias: string) => Sql,
): Sql {
  const twin = `${alias}_twin`;
  const isOwn = (row: string): Sql => sql`${ident(row, 'inventory_id')} IN (
    SELECT id FROM inventories WHERE organization_id = ${organizationId}::int AND kind = ''
      AND NOT pending_deletion)`;
  return sql`${and(isOwn(alias), matches(alias))} AND NOT EXISTS (
    SELECT 1 FROM hosts ${ident(twin)}
    WHERE ${ident(twin, 'name')} = ${ident(alias, 'name')}
      AND ${ident(twin, 'id')} < ${ident(alias, 'id')}
      AND ${and(isOwn(twin), matches(twin))})`;
}

/** How many hosts an inventory has, and in how many of them the last job failed. */
export interface MemberCount {
  id: number;
  total: number;
  failed: number;
}

/** Id of the host that a row of a constructed inventory comes from; null where it names none. */
const originalId = (alias: string): Sql => {
  const text = ident(alias, 'instance_id');
  return sql`CASE WHEN ${text} ~ '^[1-9][0-9]{0,8}$' THEN ${text}::int END`;
};

/** Query for the hosts that rows of constructed inventories come from: `host_id`, and `id` of the other. */
export const originalsOf = (hostIds: readonly number[]): Sql => sql`
  SELECT host.id AS host_id, original.id
  FROM hosts host
  JOIN inventories inv ON inv.id = host.inventory_id AND inv.kind = 'constructed'
  JOIN hosts original ON original.id = ${originalId('host')}
  WHERE host.id = ANY(${hostIds}::int[])`;

/**
 * Query for the rows that constructed inventories have of some hosts: `id`, and `summary_id`.
 *
 * @param real query for the hosts: `id`, `name` and `summary_id`
 */
export const constructedOf = (real: Sql): Sql => sql`
  SELECT made.id, original.summary_id FROM (${real}) original
  JOIN hosts made ON made.name = original.name AND made.instance_id = original.id::text
  WHERE made.inventory_id IN (${inventoriesWithInputs()})`;

/**
 * Statement that shows on hosts which job touched them last.
 *
 * @param touched query for the `id`s of the hosts and `summary_id`, how each fared
 */
export const showLastJob = (jobId: number, touched: Sql): Sql => sql`
  UPDATE hosts SET last_job_id = ${jobId}, last_job_host_summary_id = touched.summary_id
  FROM (${touched}) touched WHERE hosts.id = touched.id`;

/** How many names the hosts of some inventories have, as a value of a statement. */
export const countHostNames = (inventoryIds: Sql): Sql => sql`(
  SELECT count(DISTINCT name)::int FROM hosts WHERE inventory_id = ANY(${inventoryIds}))`;

@Injectable()
export class HostsRepository extends TableRepository<RowOf<HostSchema>> {
  constructor(database: Database) {
    super(database, 'hosts');
  }

  /**
   * The hosts that those of a constructed inventory come from, by their ids; null where one is gone.
   * Nothing where they come from nowhere else.
   */
  async originalsIn(inventoryId: number): Promise<Map<number, number | null>> {
    const rows = await this.database.rows<{ id: number; original_id: number | null }>(sql`
      SELECT host.id, original.id AS original_id FROM hosts host
      JOIN inventories inv ON inv.id = host.inventory_id AND inv.kind = 'constructed'
      LEFT JOIN hosts original ON original.id = ${originalId('host')}
      WHERE host.inventory_id = ${inventoryId}`);
    return new Map(rows.map(({ id, original_id: original }) => [id, original]));
  }

  /** The host that a row of a constructed inventory comes from; undefined of any other. */
  async originalOf(hostId: number): Promise<number | undefined> {
    return (await this.database.row<{ id: number }>(originalsOf([hostId])))?.id;
  }

  /** Has the hosts of a constructed inventory show the last jobs of those they come from. */
  async showLastJobsOfOriginals(inventoryId: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE hosts SET last_job_id = original.last_job_id,
        last_job_host_summary_id = original.last_job_host_summary_id
      FROM hosts original
      WHERE hosts.inventory_id = ${inventoryId} AND original.id = ${originalId('hosts')}
        AND (hosts.last_job_id, hosts.last_job_host_summary_id)
          IS DISTINCT FROM (original.last_job_id, original.last_job_host_summary_id)`);
  }

  /** Id of a host of an inventory, as a row. */
  byName(inventoryId: number, name: string): Promise<{ id: number } | undefined> {
    return this.database.row<{ id: number }>(sql`
      SELECT id FROM hosts WHERE inventory_id = ${atAnySize(inventoryId)} AND name = ${name}`);
  }

  /** What Ansible is told of hosts. @param members condition on `t` */
  described(members: Sql): Promise<HostRow[]> {
    return this.database.rows<HostRow & Record<string, unknown>>(sql`
      SELECT t.id, t.name, t.variables, t.enabled FROM hosts t WHERE ${members}`);
  }

  /** The same of one of them. */
  describedByName(members: Sql, name: string): Promise<HostRow | undefined> {
    return this.database.row<HostRow & Record<string, unknown>>(sql`
      SELECT t.id, t.name, t.variables, t.enabled FROM hosts t
      WHERE t.name = ${name} AND ${members}`);
  }

  /**
   * Enabled hosts of the members that have one of some names, or one of them among their variables, by name.
   *
   * @param names in small letters
   */
  describedNaming(members: Sql, names: readonly string[]): Promise<HostRow[]> {
    return this.database.rows<HostRow & Record<string, unknown>>(sql`
      SELECT t.id, t.name, t.variables, t.enabled FROM hosts t
      WHERE t.enabled AND ${members} AND (lower(t.name) = ANY(${names}::text[])
        OR EXISTS (SELECT FROM unnest(${names}::text[]) AS one(name)
          WHERE strpos(lower(t.variables), one.name) > 0))
      ORDER BY t.name`);
  }

  /** Counts of inventories that keep none. @param members which hosts are in each, on `t` */
  countMembers(members: ReadonlyMap<number, Sql>): Promise<MemberCount[]> {
    const counts = [...members].map(
      ([id, condition]) => sql`
        SELECT ${id}::int AS id, count(*)::int AS total,
          (count(*) FILTER (WHERE t.has_active_failures))::int AS failed
        FROM hosts t WHERE ${condition}`,
    );
    return this.database.rows<MemberCount & Record<string, unknown>>(join(counts, ' UNION ALL '));
  }

  /** Which of several inventories have a host. @param members which hosts are in each, on `t` */
  async inventoriesWith(hostId: number, members: ReadonlyMap<number, Sql>): Promise<number[]> {
    if (members.size === 0) return [];
    const asked = [...members].map(
      ([id, condition]) => sql`
        SELECT ${id}::int AS id FROM hosts t WHERE t.id = ${hostId}::int AND ${condition}`,
    );
    const found = await this.database.rows<{ id: number }>(join(asked, ' UNION ALL '));
    return found.map(({ id }) => id);
  }

  /**
   * Counts the names of the hosts of an organization and of others that are to be added.
   *
   * @param names query for the `name`s to be added; they may repeat, and be there already
   */
  async countNames(
    organizationId: number,
    names: Sql,
    except: UncountedHosts | null,
  ): Promise<NamesOfHosts> {
    const counted = await this.database.row<NamesOfHosts>(sql`
      SELECT count(*)::int AS total, (count(*) FILTER (WHERE is_new))::int AS added FROM (
        SELECT name, bool_and(is_new) AS is_new FROM (
          SELECT h.name, false AS is_new FROM hosts h
          JOIN inventories inv ON inv.id = h.inventory_id
          WHERE ${and(sql`inv.organization_id = ${organizationId}`, countedOnly(except))}
          UNION ALL SELECT name, true FROM (${names}) given) every
        GROUP BY name) distinct_names`);
    return existing(counted, 'an aggregate has a row');
  }

  /** Removes hosts of some groups that are in no other. @returns the rows that are gone */
  removeWithin(groups: readonly number[]): Promise<RowOf<HostSchema>[]> {
    return this.database.rows<RowOf<HostSchema>>(sql`
      DELETE FROM hosts
      WHERE id IN (SELECT host_id FROM group_hosts WHERE group_id = ANY(${groups}::int[]))
        AND id NOT IN (SELECT host_id FROM group_hosts WHERE group_id <> ALL(${groups}::int[])
          AND host_id IN (SELECT host_id FROM group_hosts WHERE group_id = ANY(${groups}::int[])))
      RETURNING *`);
  }

  /** Removes some hosts of an inventory that nobody works on. @returns how many */
  removeSome(inventoryId: number, most: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM hosts WHERE id IN (
        SELECT id FROM hosts WHERE inventory_id = ${inventoryId}
        LIMIT ${most} FOR UPDATE SKIP LOCKED)`);
  }

  /** Makes the hosts of an inventory anew in another. @param author who made the copy */
  async copy(original: number, copy: number, author: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables,
        created_by_id, modified_by_id)
      SELECT ${copy}, name, description, enabled, instance_id, variables, ${author}, ${author}
      FROM hosts WHERE inventory_id = ${original}`);
  }
}

function countedOnly(except: UncountedHosts | null): Sql {
  if (except === null) return TRUE;
  if ('inventory' in except) return sql`inv.id <> ${except.inventory}`;
  return sql`h.id <> ${except.host}`;
}
