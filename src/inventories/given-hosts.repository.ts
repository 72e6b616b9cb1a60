import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { existing } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { atAnySize } from './at-any-size.js';

/** What becomes of a host that exists already: `update` changes the fields that were sent. */
export type OnConflict = 'error' | 'update';

/** Why a given host cannot be written; `name` is a group's for `group_is_host`. */
export interface Clash {
  place: number;
  name: string;
  reason: 'repeated' | 'host' | 'group' | 'group_is_host';
}

/** How given hosts stand to what the inventory holds. */
export interface HostCheck {
  /** Given hosts that the inventory has already. */
  existing: number;
  /** Number of clashes; `clashes` may be fewer. */
  faults: number;
  /** In order of place. */
  clashes: Clash[];
}

/** The inventory of a request as its caller finds it. */
export interface HostTarget {
  id: number;
  name: string;
  kind: string;
  organization_id: number;
  may_change: boolean;
}

/** A host with its inventory, as its caller finds it. */
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
  /** Null of a host that only would be created. */
  id: number | null;
  name: string;
  description: string;
  enabled: boolean;
  instance_id: string;
  variables: string;
  result: 'created' | 'updated' | 'unchanged';
}

/** What a host has that a request says nothing about. */
export const HOST_DEFAULTS = {
  description: '',
  enabled: true,
  instance_id: '',
  variables: '',
} as const;

/**
 * Many hosts at once, set-based. The given hosts come as a query with the columns `place`, `name`,
 * `description`, `enabled`, `instance_id`, `variables` and `groups` (names as JSON text); null: not
 * sent. So a request held in memory and one staged in a table are written alike.
 */
@Injectable()
export class GivenHostsRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'hosts');
  }

  /** @param check further column, by `checkGiven` */
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

  /** The hosts whose inventory the caller may read. */
  readable(ids: readonly number[], actor: Actor): Promise<HostWithInventory[]> {
    const { policy } = resource('inventory');
    return this.database.rows<HostWithInventory>(sql`
      SELECT h.id, h.name, h.inventory_id, i.name AS inventory_name, i.organization_id, i.kind,
        (${permit(policy, 'change', 'i', actor)}) AS may_change
      FROM hosts h JOIN inventories i ON i.id = h.inventory_id
      WHERE h.id = ANY(${ids}::int[]) AND ${permit(policy, 'read', 'i', actor)}
      ORDER BY h.id`);
  }

  /**
   * Creates given hosts.
   *
   * @returns ids by `place`; fewer than were given where a name was taken meanwhile
   */
  async insertAll(inventoryId: number, given: Sql): Promise<number[]> {
    // They are drawn in the order of the rows, and a document costs less than as many rows.
    const { ids } = existing(
      await this.database.row<{ ids: number[] }>(sql`
        ${insert(inventoryId, given, sql`id`)}
        SELECT coalesce(json_agg(id ORDER BY id), '[]') AS ids FROM written`),
      'an aggregate has a row',
    );
    return ids;
  }

  async namesOf(ids: readonly number[]): Promise<string[]> {
    const rows = await this.database.rows<{ name: string }>(
      sql`SELECT name FROM hosts WHERE id = ANY(${ids}::int[])`,
    );
    return rows.map(({ name }) => name);
  }

  /** @returns how many there were */
  removeAll(ids: readonly number[]): Promise<number> {
    return this.database.execute(sql`DELETE FROM hosts WHERE id = ANY(${ids}::int[])`);
  }

  /**
   * Puts written hosts into the groups they name; groups that do not exist are made.
   *
   * @returns names of the groups made
   */
  async join(inventoryId: number, given: Sql): Promise<string[]> {
    const made = await this.database.rows<{ name: string }>(sql`
      WITH given AS MATERIALIZED (${given}),
      membership AS MATERIALIZED (
        SELECT h.id AS host_id, wanted.name
        FROM given CROSS JOIN LATERAL json_array_elements_text(given.groups::json) AS wanted (name)
        JOIN hosts h ON h.inventory_id = ${atAnySize(inventoryId)} AND h.name = given.name
        WHERE given.groups IS NOT NULL),
      made AS (
        INSERT INTO groups (inventory_id, name)
        SELECT DISTINCT ${inventoryId}::int, name FROM membership ORDER BY name
        ON CONFLICT DO NOTHING RETURNING id, name),
      known AS (
        SELECT id, name FROM made UNION ALL
        SELECT id, name FROM groups WHERE inventory_id = ${atAnySize(inventoryId)}
          AND name IN (SELECT name FROM membership)),
      linked AS (
        INSERT INTO group_hosts (group_id, host_id)
        SELECT known.id, membership.host_id FROM membership JOIN known USING (name)
        ON CONFLICT DO NOTHING)
      SELECT name FROM made ORDER BY name`);
    return made.map(({ name }) => name);
  }
}

/**
 * A `HostCheck` as a scalar query.
 *
 * @param most clashes told
 */
export function checkGiven(
  inventoryId: number,
  given: Sql,
  { onConflict, most }: { onConflict: OnConflict; most: number },
): Sql {
  return sql`
    WITH given AS MATERIALIZED (${given}),
    repeated AS (SELECT name, min(place) AS first FROM given GROUP BY name HAVING count(*) > 1),
    host AS MATERIALIZED (
      SELECT min(given.place) AS place, given.name
      FROM given CROSS JOIN LATERAL (${namesake(inventoryId, sql`hosts`)}) taken GROUP BY given.name),
    wanted AS (
      SELECT min(given.place) AS place, member.name
      FROM given CROSS JOIN LATERAL json_array_elements_text(given.groups::json) AS member (name)
      WHERE given.groups IS NOT NULL GROUP BY member.name),
    clash AS (
      SELECT place, name, 'repeated' AS reason FROM given JOIN repeated USING (name)
        WHERE given.place > repeated.first
      UNION ALL SELECT place, name, 'host' FROM host WHERE ${onConflict === 'error'}
      UNION ALL SELECT given.place, given.name, 'group'
        FROM given CROSS JOIN LATERAL (${namesake(inventoryId, sql`groups`)}) taken
        WHERE EXISTS (SELECT 1 FROM groups WHERE inventory_id = ${inventoryId})
      UNION ALL SELECT place, name, 'group_is_host' FROM wanted
        WHERE name IN (SELECT name FROM given)
          OR EXISTS (SELECT 1 FROM hosts WHERE inventory_id = ${atAnySize(inventoryId)}
            AND hosts.name = wanted.name))
    SELECT json_build_object(
      'existing', (SELECT count(*) FROM host),
      'faults', (SELECT count(*) FROM clash),
      'clashes', (SELECT coalesce(json_agg(told ORDER BY told.place, told.name), '[]')
        FROM (SELECT * FROM clash ORDER BY place, name LIMIT ${most}) told))`;
}

/** Bounded, so that each name is looked for in the index, however large the inventory is. */
const namesake = (inventoryId: number, table: Sql): Sql => sql`
  SELECT id FROM ${table} WHERE inventory_id = ${atAnySize(inventoryId)} AND name = given.name LIMIT 1`;

const COLUMNS = sql`id, name, description, enabled, instance_id, variables`;

/** What was not sent (null) makes no difference. */
const DIFFERS = sql`coalesce(given.description <> h.description OR given.enabled <> h.enabled
  OR given.instance_id <> h.instance_id OR given.variables <> h.variables, false)`;

/**
 * The `WITH` of a statement that writes given hosts; its `written` holds what they became
 * (`WrittenHost`), without those whose name was taken meanwhile.
 */
export const writeGiven = (inventoryId: number, given: Sql, onConflict: OnConflict): Sql =>
  onConflict === 'update'
    ? upsert(inventoryId, given)
    : insert(inventoryId, given, sql`${COLUMNS}, 'created' AS result`);

/** What `writeGiven` would write, of the same shape; hosts that would be new have no id. */
export const foreseeGiven = (inventoryId: number, given: Sql): Sql => sql`
  WITH given AS MATERIALIZED (${given}),
  written AS (
    SELECT h.id, given.name,
      coalesce(given.description, h.description, ${HOST_DEFAULTS.description}) AS description,
      coalesce(given.enabled, h.enabled, ${HOST_DEFAULTS.enabled}) AS enabled,
      coalesce(given.instance_id, h.instance_id, ${HOST_DEFAULTS.instance_id}) AS instance_id,
      coalesce(given.variables, h.variables, ${HOST_DEFAULTS.variables}) AS variables,
      CASE WHEN h.id IS NULL THEN 'created' WHEN ${DIFFERS} THEN 'updated' ELSE 'unchanged'
        END AS result
    FROM given LEFT JOIN hosts h
      ON h.inventory_id = ${atAnySize(inventoryId)} AND h.name = given.name)`;

const insert = (inventoryId: number, given: Sql, returned: Sql): Sql => sql`
  WITH given AS (${given}),
  written AS (
    INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables)
    ${newHosts(inventoryId)} ORDER BY given.place
    ON CONFLICT DO NOTHING RETURNING ${returned})`;

/** Only what differs is written, so that an import that changes nothing costs nothing. */
const upsert = (inventoryId: number, given: Sql): Sql => sql`
  WITH given AS MATERIALIZED (${given}),
  updated AS (
    UPDATE hosts h SET modified = now(),
      description = coalesce(given.description, h.description),
      enabled = coalesce(given.enabled, h.enabled),
      instance_id = coalesce(given.instance_id, h.instance_id),
      variables = coalesce(given.variables, h.variables)
    FROM given WHERE h.inventory_id = ${atAnySize(inventoryId)} AND h.name = given.name
      AND ${DIFFERS}
    RETURNING h.id, h.name, h.description, h.enabled, h.instance_id, h.variables),
  created AS (
    INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables)
    ${newHosts(inventoryId)} AND NOT EXISTS (
      SELECT 1 FROM hosts WHERE inventory_id = ${atAnySize(inventoryId)} AND hosts.name = given.name)
    ORDER BY given.place
    ON CONFLICT DO NOTHING RETURNING ${COLUMNS}),
  written AS (
    SELECT ${COLUMNS}, 'updated' AS result FROM updated
    UNION ALL SELECT ${COLUMNS}, 'created' FROM created
    UNION ALL
    SELECT h.id, h.name, h.description, h.enabled, h.instance_id, h.variables, 'unchanged'
    FROM given JOIN hosts h ON h.inventory_id = ${atAnySize(inventoryId)} AND h.name = given.name
    WHERE NOT EXISTS (SELECT 1 FROM updated WHERE updated.id = h.id))`;

/** The given hosts as rows; a name that became a group's meanwhile is left out. */
const newHosts = (inventoryId: number): Sql => sql`
  SELECT ${inventoryId}::int, given.name,
    coalesce(given.description, ${HOST_DEFAULTS.description}),
    coalesce(given.enabled, ${HOST_DEFAULTS.enabled}),
    coalesce(given.instance_id, ${HOST_DEFAULTS.instance_id}),
    coalesce(given.variables, ${HOST_DEFAULTS.variables})
  FROM given
  WHERE NOT EXISTS (
    SELECT 1 FROM groups
    WHERE groups.inventory_id = ${atAnySize(inventoryId)} AND groups.name = given.name)`;
