import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { lookupId } from './lookup-id.js';
import { Host } from './host.entity.js';

/** Handling of hosts that already exist: `update` changes the fields in the request. */
export type OnConflict = 'error' | 'update';

/**
 * Reason why a host of a request cannot be written; for `group_is_host`, `name` is the name of a
 * group.
 */
export interface Clash {
  place: number;
  name: string;
  reason: 'repeated' | 'host' | 'group' | 'group_is_host';
}

/** Comparison of the request's hosts with the inventory. */
export interface HostCheck {
  /** Number of requested hosts that already exist in the inventory. */
  existing: number;
  /** Total number of clashes; `clashes` can contain fewer. */
  faults: number;
  /** Clashes in order of place. */
  clashes: Clash[];
}

/** The inventory of a request, with the caller's permission. */
export interface HostTarget {
  id: number;
  name: string;
  kind: string;
  organization_id: number;
  may_change: boolean;
}

/** A host with its inventory, and the caller's permission. */
export interface HostWithInventory {
  id: number;
  name: string;
  inventory_id: number;
  inventory_name: string;
  organization_id: number;
  kind: string;
  may_change: boolean;
}

export interface WrittenHost {
  /** Id; null for a host that would be created. */
  id: number | null;
  name: string;
  description: string;
  enabled: boolean;
  instance_id: string;
  variables: string;
  result: 'created' | 'updated' | 'unchanged';
}

/** A group that a request created, for hosts that name it. */
export interface CreatedGroup {
  name: string;
  /** True if a host has the same name. */
  is_host: boolean;
}

/** Default values of a host's fields. */
export const HOST_DEFAULTS = {
  description: '',
  enabled: true,
  instance_id: '',
  variables: '',
} as const;

/**
 * Writes many hosts in one statement. The parameter `hosts` is a query with the columns `place`, `name`,
 * `description`, `enabled`, `instance_id`, `variables` and `groups` (names as JSON text). Fields that
 * the request does not contain are null. The same statement can therefore write the hosts of a request in
 * memory and of a request that is staged in a table.
 */
@Injectable()
export class HostWritesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(Host) repository: Repository<Host>) {
    super(repository);
  }

  /** @param check further column, from `checkQuery` */
  findTarget(
    inventoryId: number,
    actor: Actor,
    check: Sql = sql`NULL`,
  ): Promise<(HostTarget & { check: HostCheck | null }) | undefined> {
    return this.database.row(sql`
      SELECT i.id, i.name, i.kind, i.organization_id,
        (${permit(resource('inventory').policy, 'change', 'i', actor)}) AS may_change,
        (${check}) AS check
      FROM inventories i WHERE i.id = ${inventoryId}`);
  }

  /** Locks and returns the hosts whose inventory the caller can read. */
  lockReadable(ids: readonly number[], actor: Actor): Promise<HostWithInventory[]> {
    const { policy } = resource('inventory');
    return this.database.rows<HostWithInventory>(sql`
      SELECT h.id, h.name, h.inventory_id, i.name AS inventory_name, i.organization_id, i.kind,
        (${permit(policy, 'change', 'i', actor)}) AS may_change
      FROM hosts h JOIN inventories i ON i.id = h.inventory_id
      WHERE h.id = ANY(${ids}::int[]) AND ${permit(policy, 'read', 'i', actor)}
      ORDER BY h.id FOR UPDATE OF h`);
  }

  /**
   * Creates hosts.
   *
   * @returns ids in order of `place`; fewer than hosts if another transaction has used a name
   */
  async insertAll(inventoryId: number, hosts: Sql): Promise<number[]> {
    // Ids are assigned in the order of the rows. One JSON document is cheaper than many rows.
    const { ids } = await this.database.rowOrFail<{ ids: number[] }>(sql`
      ${insert(inventoryId, hosts, sql`id`)}
      SELECT coalesce(json_agg(id ORDER BY id), '[]') AS ids FROM written`);
    return ids;
  }

  async namesOf(ids: readonly number[]): Promise<string[]> {
    const rows = await this.database.rows<{ name: string }>(
      sql`SELECT name FROM hosts WHERE id = ANY(${ids}::int[])`,
    );
    return rows.map(({ name }) => name);
  }

  async removeAll(ids: readonly number[]): Promise<void> {
    await this.database.execute(sql`DELETE FROM hosts WHERE id = ANY(${ids}::int[])`);
  }

  /**
   * Adds written hosts to the groups that they name; creates missing groups.
   *
   * @returns the created groups
   */
  join(inventoryId: number, hosts: Sql): Promise<CreatedGroup[]> {
    return this.database.rows<CreatedGroup & Record<string, unknown>>(sql`
      WITH given AS MATERIALIZED (${hosts}),
      membership AS MATERIALIZED (
        SELECT h.id AS host_id, wanted.name
        FROM given CROSS JOIN LATERAL json_array_elements_text(given.groups::json) AS wanted (name)
        JOIN hosts h ON h.inventory_id = ${lookupId(inventoryId)} AND h.name = given.name
        WHERE given.groups IS NOT NULL),
      made AS (
        INSERT INTO groups (inventory_id, name)
        SELECT DISTINCT ${inventoryId}::int, name FROM membership ORDER BY name
        ON CONFLICT DO NOTHING RETURNING id, name),
      known AS (
        SELECT id, name FROM made UNION ALL
        SELECT id, name FROM groups WHERE inventory_id = ${lookupId(inventoryId)}
          AND name IN (SELECT name FROM membership)),
      linked AS (
        INSERT INTO group_hosts (group_id, host_id)
        SELECT known.id, membership.host_id FROM membership JOIN known USING (name)
        ON CONFLICT DO NOTHING)
      SELECT name, EXISTS (SELECT 1 FROM hosts WHERE inventory_id = ${lookupId(inventoryId)}
        AND hosts.name = made.name) AS is_host
      FROM made ORDER BY name`);
  }
}

/**
 * Returns a `HostCheck` as a scalar query.
 *
 * @param max maximum number of clashes in the result
 */
export function checkQuery(
  inventoryId: number,
  hosts: Sql,
  { onConflict, max }: { onConflict: OnConflict; max: number },
): Sql {
  return sql`
    WITH given AS MATERIALIZED (${hosts}),
    repeated AS (SELECT name, min(place) AS first FROM given GROUP BY name HAVING count(*) > 1),
    host AS MATERIALIZED (
      SELECT min(given.place) AS place, given.name
      FROM given CROSS JOIN LATERAL (${rowWithSameName(inventoryId, sql`hosts`)}) taken GROUP BY given.name),
    wanted AS (
      SELECT min(given.place) AS place, member.name
      FROM given CROSS JOIN LATERAL json_array_elements_text(given.groups::json) AS member (name)
      WHERE given.groups IS NOT NULL GROUP BY member.name),
    clash AS (
      SELECT place, name, 'repeated' AS reason FROM given JOIN repeated USING (name)
        WHERE given.place > repeated.first
      UNION ALL SELECT place, name, 'host' FROM host WHERE ${onConflict === 'error'}
      UNION ALL SELECT given.place, given.name, 'group'
        FROM given CROSS JOIN LATERAL (${rowWithSameName(inventoryId, sql`groups`)}) taken
        WHERE EXISTS (SELECT 1 FROM groups WHERE inventory_id = ${inventoryId})
      UNION ALL SELECT place, name, 'group_is_host' FROM wanted
        WHERE name IN (SELECT name FROM given)
          OR EXISTS (SELECT 1 FROM hosts WHERE inventory_id = ${lookupId(inventoryId)}
            AND hosts.name = wanted.name))
    SELECT json_build_object(
      'existing', (SELECT count(*) FROM host),
      'faults', (SELECT count(*) FROM clash),
      'clashes', (SELECT coalesce(json_agg(listed ORDER BY listed.place, listed.name), '[]')
        FROM (SELECT * FROM clash ORDER BY place, name LIMIT ${max}) listed))`;
}

/**
 * Returns a query for the host or group with the name of a requested host. The LIMIT makes PostgreSQL
 * look up each name in the index, independent of the inventory's size.
 */
const rowWithSameName = (inventoryId: number, table: Sql): Sql => sql`
  SELECT id FROM ${table} WHERE inventory_id = ${lookupId(inventoryId)} AND name = given.name LIMIT 1`;

const COLUMNS = sql`id, name, description, enabled, instance_id, variables`;

/** Values that are not in the request (null) do not count as a difference. */
const DIFFERS = sql`coalesce(given.description <> h.description OR given.enabled <> h.enabled
  OR given.instance_id <> h.instance_id OR given.variables <> h.variables, false)`;

/**
 * Returns the `WITH` clause of a statement that writes hosts. The table `written` contains the written
 * hosts (`WrittenHost`), without hosts whose name another transaction has used.
 */
export const writeQuery = (inventoryId: number, hosts: Sql, onConflict: OnConflict): Sql =>
  onConflict === 'update'
    ? upsert(inventoryId, hosts)
    : insert(inventoryId, hosts, sql`${COLUMNS}, 'created' AS result`);

/**
 * Returns the `WITH` clause of a dry run, with the columns of `writeQuery`; hosts that would be
 * created have no id.
 */
export const dryRunQuery = (inventoryId: number, hosts: Sql): Sql => sql`
  WITH given AS MATERIALIZED (${hosts}),
  written AS (
    SELECT h.id, given.name,
      coalesce(given.description, h.description, ${HOST_DEFAULTS.description}) AS description,
      coalesce(given.enabled, h.enabled, ${HOST_DEFAULTS.enabled}) AS enabled,
      coalesce(given.instance_id, h.instance_id, ${HOST_DEFAULTS.instance_id}) AS instance_id,
      coalesce(given.variables, h.variables, ${HOST_DEFAULTS.variables}) AS variables,
      CASE WHEN h.id IS NULL THEN 'created' WHEN ${DIFFERS} THEN 'updated' ELSE 'unchanged'
        END AS result
    FROM given LEFT JOIN hosts h
      ON h.inventory_id = ${lookupId(inventoryId)} AND h.name = given.name)`;

const insert = (inventoryId: number, hosts: Sql, returned: Sql): Sql => sql`
  WITH given AS (${hosts}),
  written AS (
    INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables)
    ${newHosts(inventoryId)} ORDER BY given.place
    ON CONFLICT DO NOTHING RETURNING ${returned})`;

/**
 * Returns the `WITH` clause of an update or insert. Writes only rows that differ, so that a request
 * without changes writes nothing.
 */
const upsert = (inventoryId: number, hosts: Sql): Sql => sql`
  WITH given AS MATERIALIZED (${hosts}),
  updated AS (
    UPDATE hosts h SET modified = now(),
      description = coalesce(given.description, h.description),
      enabled = coalesce(given.enabled, h.enabled),
      instance_id = coalesce(given.instance_id, h.instance_id),
      variables = coalesce(given.variables, h.variables)
    FROM given WHERE h.inventory_id = ${lookupId(inventoryId)} AND h.name = given.name
      AND ${DIFFERS}
    RETURNING h.id, h.name, h.description, h.enabled, h.instance_id, h.variables),
  created AS (
    INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables)
    ${newHosts(inventoryId)} AND NOT EXISTS (
      SELECT 1 FROM hosts WHERE inventory_id = ${lookupId(inventoryId)} AND hosts.name = given.name)
    ORDER BY given.place
    ON CONFLICT DO NOTHING RETURNING ${COLUMNS}),
  written AS (
    SELECT ${COLUMNS}, 'updated' AS result FROM updated
    UNION ALL SELECT ${COLUMNS}, 'created' FROM created
    UNION ALL
    SELECT h.id, h.name, h.description, h.enabled, h.instance_id, h.variables, 'unchanged'
    FROM given JOIN hosts h ON h.inventory_id = ${lookupId(inventoryId)} AND h.name = given.name
    WHERE NOT EXISTS (SELECT 1 FROM updated WHERE updated.id = h.id))`;

/** Returns a query for the new hosts, without hosts whose name is the name of a group. */
const newHosts = (inventoryId: number): Sql => sql`
  SELECT ${inventoryId}::int, given.name,
    coalesce(given.description, ${HOST_DEFAULTS.description}),
    coalesce(given.enabled, ${HOST_DEFAULTS.enabled}),
    coalesce(given.instance_id, ${HOST_DEFAULTS.instance_id}),
    coalesce(given.variables, ${HOST_DEFAULTS.variables})
  FROM given
  WHERE NOT EXISTS (
    SELECT 1 FROM groups
    WHERE groups.inventory_id = ${lookupId(inventoryId)} AND groups.name = given.name)`;
