import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { and, ident, join, sql, TRUE, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { HostRow } from './ansible-inventory.js';
import { lookupId } from './lookup-id.js';
import { inventoriesWithInputs } from './inventory-inputs.repository.js';
import { Host } from './host.entity.js';
import { readableVariables, rowsWithVariables } from './readable-variables.js';

/** Number of host names of an organization, including hosts to be added. */
export interface NamesOfHosts {
  /** Number of names, including those to be added. */
  total: number;
  added: number;
}

/** Hosts that a request changes, and that are not counted: all hosts of an inventory, or one host. */
export type UncountedHosts = { inventory: number } | { host: number };

type DescribedHost = Omit<HostRow, 'variables'> & Record<'variables', string | null>;

/** Columns of `t` for Ansible's inventory. */
const DESCRIBED = sql`
  t.id, t.name, ${readableVariables(sql`t.variables`)} AS variables, t.enabled`;

/** Returns a query for the names of an inventory's hosts. */
export const hostNamesOf = (inventoryId: number): Sql => sql`
  SELECT name FROM hosts WHERE inventory_id = ${inventoryId}`;

/** Returns a query for hosts, for joins in statements about other tables. */
export const allHosts = (): Sql => sql`SELECT id, inventory_id, name FROM hosts`;

/**
 * Returns the condition on a row of hosts for the hosts of an organization that match another
 * condition. If a name is in several inventories, only the host with the lowest id matches. Only plain
 * inventories count, without those that are being deleted.
 *
 * @param matches condition on a row of hosts
 */
export function firstOfEachName(
  alias: string,
  organizationId: number,
  matches: (alias: string) => Sql,
): Sql {
  const duplicate = `${alias}_twin`;
  const isInOrganization = (row: string): Sql => sql`${ident(row, 'inventory_id')} IN (
    SELECT id FROM inventories WHERE organization_id = ${organizationId}::int AND kind = ''
      AND NOT pending_deletion)`;
  return sql`${and(isInOrganization(alias), matches(alias))} AND NOT EXISTS (
    SELECT 1 FROM hosts ${ident(duplicate)}
    WHERE ${ident(duplicate, 'name')} = ${ident(alias, 'name')}
      AND ${ident(duplicate, 'id')} < ${ident(alias, 'id')}
      AND ${and(isInOrganization(duplicate), matches(duplicate))})`;
}

/** Number of hosts of an inventory, and number of hosts whose last job failed. */
export interface MemberCount {
  id: number;
  total: number;
  failed: number;
}

/**
 * Returns the id of a constructed host's original host, as SQL; null if the host has no valid id.
 */
const originalId = (alias: string): Sql => {
  const text = ident(alias, 'instance_id');
  return sql`CASE WHEN ${text} ~ '^[1-9][0-9]{0,8}$' THEN ${text}::int END`;
};

/**
 * Returns a query for the original hosts of constructed hosts: `host_id`, and `id` of the original.
 */
export const originalsOf = (hostIds: readonly number[]): Sql => sql`
  SELECT host.id AS host_id, original.id
  FROM hosts host
  JOIN inventories inv ON inv.id = host.inventory_id AND inv.kind = 'constructed'
  JOIN hosts original ON original.id = ${originalId('host')}
  WHERE host.id = ANY(${hostIds}::int[])`;

/**
 * Returns a query for the constructed hosts of some original hosts: `id` and `summary_id`.
 *
 * @param originals query for the original hosts: `id`, `name` and `summary_id`
 */
export const constructedOf = (originals: Sql): Sql => sql`
  SELECT made.id, original.summary_id FROM (${originals}) original
  JOIN hosts made ON made.name = original.name AND made.instance_id = original.id::text
  WHERE made.inventory_id IN (${inventoriesWithInputs()})`;

/**
 * Returns a statement that locks the inventories of hosts. A change of their last jobs changes the counters of
 * the inventories, and imports lock an inventory before its hosts.
 *
 * @param hosts query for the ids of the hosts
 */
export const lockInventoriesOf = (hosts: Sql): Sql => sql`
  SELECT id FROM inventories WHERE id IN (SELECT inventory_id FROM hosts WHERE id IN (${hosts}))
  ORDER BY id FOR NO KEY UPDATE`;

/**
 * Returns a statement that stores the last job of hosts.
 *
 * @param hosts query for the `id`s of the hosts and their `summary_id`
 */
export const showLastJob = (jobId: number, hosts: Sql): Sql => sql`
  UPDATE hosts SET last_job_id = ${jobId}, last_job_host_summary_id = touched.summary_id
  FROM (${hosts}) touched WHERE hosts.id = touched.id`;

/**
 * Returns the statement that clears the last job of the hosts that show one of some summaries. Locks the hosts
 * in the order of their ids, as jobs do.
 *
 * @param summaries query for the ids of the summaries
 */
export const hideLastJobs = (summaries: Sql): Sql => sql`
  UPDATE hosts SET last_job_id = NULL, last_job_host_summary_id = NULL
  FROM (
    SELECT id FROM hosts WHERE last_job_host_summary_id IN (${summaries})
    ORDER BY id FOR NO KEY UPDATE) shown
  WHERE hosts.id = shown.id`;

/** Returns the number of distinct host names of some inventories, as an SQL value. */
export const countHostNames = (inventoryIds: Sql): Sql => sql`(
  SELECT count(DISTINCT name)::int FROM hosts WHERE inventory_id = ANY(${inventoryIds}))`;

@Injectable()
export class HostsRepository extends TableRepository<RowOf<Host>> {
  constructor(@InjectRepository(Host) repository: Repository<Host>) {
    super(repository);
  }

  /**
   * Returns the ids of the original hosts by the id of their constructed host; null for a deleted original.
   * Empty for other inventories.
   */
  async originalsIn(inventoryId: number): Promise<Map<number, number | null>> {
    const rows = await this.database.rows<{ id: number; original_id: number | null }>(sql`
      SELECT host.id, original.id AS original_id FROM hosts host
      JOIN inventories inv ON inv.id = host.inventory_id AND inv.kind = 'constructed'
      LEFT JOIN hosts original ON original.id = ${originalId('host')}
      WHERE host.inventory_id = ${inventoryId}`);
    return new Map(rows.map(({ id, original_id: original }) => [id, original]));
  }

  /** Returns the id of a constructed host's original host; undefined if there is no original. */
  async originalOf(hostId: number): Promise<number | undefined> {
    return (await this.database.row<{ id: number }>(originalsOf([hostId])))?.id;
  }

  /** Copies the last job of each original host to the hosts of a constructed inventory. */
  async showLastJobsOfOriginals(inventoryId: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE hosts SET last_job_id = original.last_job_id,
        last_job_host_summary_id = original.last_job_host_summary_id
      FROM hosts original
      WHERE hosts.inventory_id = ${inventoryId} AND original.id = ${originalId('hosts')}
        AND (hosts.last_job_id, hosts.last_job_host_summary_id)
          IS DISTINCT FROM (original.last_job_id, original.last_job_host_summary_id)`);
  }

  /** Returns the host of an inventory with a name; undefined if there is none. */
  byName(inventoryId: number, name: string): Promise<{ id: number } | undefined> {
    return this.database.row<{ id: number }>(sql`
      SELECT id FROM hosts WHERE inventory_id = ${lookupId(inventoryId)} AND name = ${name}`);
  }

  /**
   * Returns hosts with the columns for Ansible's inventory.
   *
   * @param members condition on `t`
   * @throws VariablesError if the variables of all hosts are too large
   */
  async described(members: Sql): Promise<HostRow[]> {
    return rowsWithVariables(
      await this.database.rows<DescribedHost>(
        sql`SELECT ${DESCRIBED} FROM hosts t WHERE ${members}`,
      ),
    );
  }

  /** Returns one of the hosts by name, with the columns for Ansible's inventory. */
  describedByName(members: Sql, name: string): Promise<HostRow | undefined> {
    return this.database.row<HostRow & Record<string, unknown>>(sql`
      SELECT t.id, t.name, t.variables, t.enabled FROM hosts t
      WHERE t.name = ${name} AND ${members}`);
  }

  /**
   * Returns the enabled members that have one of the names, or whose variables contain one of the names,
   * in order of their own names.
   *
   * @param names names in lower case
   * @throws VariablesError if the variables of these hosts are too large
   */
  async describedMentioning(members: Sql, names: readonly string[]): Promise<HostRow[]> {
    const rows = await this.database.rows<DescribedHost>(sql`
      SELECT ${DESCRIBED} FROM hosts t
      WHERE t.enabled AND ${members} AND (lower(t.name) = ANY(${names}::text[])
        OR EXISTS (SELECT FROM unnest(${names}::text[]) AS wanted(name)
          WHERE strpos(lower(t.variables), wanted.name) > 0))
      ORDER BY t.name`);
    return rowsWithVariables(rows);
  }

  /**
   * Returns the counts of inventories without stored counts.
   *
   * @param members conditions on `t` for the hosts of each inventory
   */
  countMembers(members: ReadonlyMap<number, Sql>): Promise<MemberCount[]> {
    const counts = [...members].map(
      ([id, condition]) => sql`
        SELECT ${id}::int AS id, count(*)::int AS total,
          (count(*) FILTER (WHERE t.has_active_failures))::int AS failed
        FROM hosts t WHERE ${condition}`,
    );
    return this.database.rows<MemberCount & Record<string, unknown>>(join(counts, ' UNION ALL '));
  }

  /**
   * Returns the ids of those inventories that contain a host.
   *
   * @param members conditions on `t` for the hosts of each inventory
   */
  async inventoriesWith(hostId: number, members: ReadonlyMap<number, Sql>): Promise<number[]> {
    if (members.size === 0) return [];
    const queries = [...members].map(
      ([id, condition]) => sql`
        SELECT ${id}::int AS id FROM hosts t WHERE t.id = ${hostId}::int AND ${condition}`,
    );
    return this.database.ids(join(queries, ' UNION ALL '));
  }

  /**
   * Counts the host names of an organization, including names to be added.
   *
   * @param names query for the `name`s to be added; they can repeat, and can exist already
   */
  async countNames(
    organizationId: number,
    names: Sql,
    except: UncountedHosts | null,
  ): Promise<NamesOfHosts> {
    return this.database.rowOrFail<NamesOfHosts>(sql`
      SELECT count(*)::int AS total, (count(*) FILTER (WHERE is_new))::int AS added FROM (
        SELECT name, bool_and(is_new) AS is_new FROM (
          SELECT h.name, false AS is_new FROM hosts h
          JOIN inventories inv ON inv.id = h.inventory_id
          WHERE ${and(sql`inv.organization_id = ${organizationId}`, isCounted(except))}
          UNION ALL SELECT name, true FROM (${names}) given) every
        GROUP BY name) distinct_names`);
  }

  /**
   * Deletes hosts of some groups that are in no other group.
   *
   * @returns the deleted rows
   */
  removeWithin(groups: readonly number[]): Promise<RowOf<Host>[]> {
    return this.database.rows<RowOf<Host>>(sql`
      DELETE FROM hosts
      WHERE id IN (SELECT host_id FROM group_hosts WHERE group_id = ANY(${groups}::int[]))
        AND id NOT IN (SELECT host_id FROM group_hosts WHERE group_id <> ALL(${groups}::int[])
          AND host_id IN (SELECT host_id FROM group_hosts WHERE group_id = ANY(${groups}::int[])))
      RETURNING *`);
  }

  /**
   * Deletes some hosts of an inventory whose rows are not locked.
   *
   * @returns number of deleted hosts
   */
  removeSome(inventoryId: number, limit: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM hosts WHERE id IN (
        SELECT id FROM hosts WHERE inventory_id = ${inventoryId}
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }

  /**
   * Copies the hosts of an inventory to another.
   *
   * @param author user who copies the inventory
   */
  async copy(original: number, copy: number, author: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables,
        created_by_id, modified_by_id)
      SELECT ${copy}, name, description, enabled, instance_id, variables, ${author}, ${author}
      FROM hosts WHERE inventory_id = ${original}`);
  }
}

function isCounted(except: UncountedHosts | null): Sql {
  if (except === null) return TRUE;
  if ('inventory' in except) return sql`inv.id <> ${except.inventory}`;
  return sql`h.id <> ${except.host}`;
}
