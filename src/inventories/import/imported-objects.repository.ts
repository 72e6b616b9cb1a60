import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { ident, raw, sql, type Sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { lookupId } from '../lookup-id.js';
import { readableVariables, rowsWithVariables } from '../readable-variables.js';
import type {
  KnownHost,
  KnownObject,
  PlannedHost,
  PlannedObject,
  KnownVariables,
} from './known-objects.js';
import { InventorySourceHost } from './source-claim.entity.js';

export interface ImportScope {
  readonly sourceId: number;
  readonly inventoryId: number;
}

/** New values of an existing object; null leaves a column of a host unchanged. */
export interface ObjectChange {
  readonly id: number;
  readonly variables: string | null;
}

export interface HostChange extends ObjectChange {
  readonly name: string;
  readonly instanceId: string | null;
  readonly isEnabled: boolean | null;
}

/** An object that a source delivered, with its variables in the import as JSON (`delivered`). */
export interface Claim {
  readonly name: string;
  readonly delivered: string;
  /** MD5 of the object's current variables. */
  readonly mergedDigest: string;
}

export type ImportedKind = 'hosts' | 'groups';

const CLAIMS = {
  hosts: { table: 'inventory_source_hosts', column: 'host_id' },
  groups: { table: 'inventory_source_groups', column: 'group_id' },
} as const;

/** Returns the SQL condition that a source delivered a host. */
export const isClaimed = (hostId: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM inventory_source_hosts claim WHERE claim.host_id = ${hostId})`;

/**
 * Hosts and groups of imports. The number of statements is independent of the number of objects.
 */
@Injectable()
export class ImportedObjectsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(InventorySourceHost) repository: Repository<InventorySourceHost>) {
    super(repository);
  }

  /** Returns the groups of an inventory with their relation to sources. */
  knownGroups(scope: ImportScope): Promise<(KnownObject & Row)[]> {
    return this.database.rows<KnownObject & Row>(knownObjects('groups', scope, raw('')));
  }

  /** Returns the hosts of an inventory with their relation to sources. */
  knownHosts(scope: ImportScope): Promise<(KnownHost & Row)[]> {
    return this.database.rows<KnownHost & Row>(
      knownObjects('hosts', scope, raw('known.instance_id, known.enabled,')),
    );
  }

  /**
   * Returns the variables of some objects, for merging.
   *
   * @throws VariablesError if the variables of all objects are too large
   */
  async stored(
    kind: ImportedKind,
    { sourceId }: ImportScope,
    ids: readonly number[],
  ): Promise<KnownVariables[]> {
    const { table, column } = CLAIMS[kind];
    const rows = await this.database.rows<
      Omit<KnownVariables, 'variables'> & { variables: string | null } & Row
    >(sql`
      SELECT known.id, ${readableVariables(sql`known.variables`)} AS variables, own.delivered,
        ARRAY(SELECT DISTINCT json_object_keys(other.delivered::json)
          FROM ${ident(table)} other
          WHERE other.${ident(column)} = known.id AND other.inventory_source_id <> ${sourceId}
            AND other.delivered <> '') AS others
      FROM ${ident(kind)} known
      LEFT JOIN ${ident(table)} own
        ON own.${ident(column)} = known.id AND own.inventory_source_id = ${sourceId}
      WHERE known.id = ANY(${ids}::int[])`);
    return rowsWithVariables(rows);
  }

  async createGroups(
    { inventoryId }: ImportScope,
    groups: readonly PlannedObject[],
  ): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO groups (inventory_id, name, description, variables, is_imported)
      SELECT ${inventoryId}::int, name, coalesce(description, ${IMPORTED}), variables, true
      FROM unnest(${groups.map(({ name }) => name)}::text[],
        ${groups.map(({ description }) => description)}::text[],
        ${groups.map(({ delivered }) => delivered)}::text[]) AS given(name, description, variables)
      ORDER BY name`);
  }

  async createHosts({ inventoryId }: ImportScope, hosts: readonly PlannedHost[]): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO hosts (inventory_id, name, description, variables, instance_id, enabled, is_imported)
      SELECT ${inventoryId}::int, name, coalesce(description, ${IMPORTED}), variables, instance_id,
        coalesce(enabled, true), true
      FROM unnest(${hosts.map(({ name }) => name)}::text[],
        ${hosts.map(({ description }) => description)}::text[],
        ${hosts.map(({ delivered }) => delivered)}::text[],
        ${hosts.map(({ instanceId }) => instanceId)}::text[],
        ${hosts.map(({ isEnabled }) => isEnabled)}::bool[])
        AS given(name, description, variables, instance_id, enabled)
      ORDER BY name`);
  }

  async updateGroups(changes: readonly ObjectChange[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE groups SET variables = given.variables, modified = now()
      FROM unnest(${changes.map(({ id }) => id)}::int[],
        ${changes.map(({ variables }) => variables)}::text[]) AS given(id, variables)
      WHERE groups.id = given.id`);
  }

  /** Replaces the names of hosts by temporary names, so that two hosts can exchange their names. */
  async freeNames(ids: readonly number[]): Promise<void> {
    await this.database.execute(
      sql`UPDATE hosts SET name = chr(1) || id WHERE id = ANY(${ids}::int[])`,
    );
  }

  async updateHosts(changes: readonly HostChange[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE hosts SET name = given.name, modified = now(),
        variables = coalesce(given.variables, hosts.variables),
        instance_id = coalesce(given.instance_id, hosts.instance_id),
        enabled = coalesce(given.enabled, hosts.enabled)
      FROM unnest(${changes.map(({ id }) => id)}::int[], ${changes.map(({ name }) => name)}::text[],
        ${changes.map(({ variables }) => variables)}::text[],
        ${changes.map(({ instanceId }) => instanceId)}::text[],
        ${changes.map(({ isEnabled }) => isEnabled)}::bool[])
        AS given(id, name, variables, instance_id, enabled)
      WHERE hosts.id = given.id`);
  }

  async removeAll(kind: ImportedKind, ids: readonly number[]): Promise<void> {
    await this.database.execute(sql`DELETE FROM ${ident(kind)} WHERE id = ANY(${ids}::int[])`);
  }

  /**
   * Deletes all objects of a kind that a source delivered.
   *
   * @returns number of deleted objects
   */
  removeImported(kind: ImportedKind, sourceId: number): Promise<number> {
    const { table, column } = CLAIMS[kind];
    return this.database.execute(sql`
      DELETE FROM ${ident(kind)} WHERE id IN (
        SELECT claim.${ident(column)} FROM ${ident(table)} claim
        WHERE claim.inventory_source_id = ${sourceId})`);
  }

  /** Records the objects that a source delivered; earlier claims remain. */
  async claim(
    kind: ImportedKind,
    { sourceId, inventoryId }: ImportScope,
    claims: readonly Claim[],
  ): Promise<void> {
    const { table, column } = CLAIMS[kind];
    await this.database.execute(sql`
      INSERT INTO ${ident(table)} (inventory_source_id, ${ident(column)}, delivered, merged_digest)
      SELECT ${sourceId}::int, known.id, given.delivered, given.merged_digest
      FROM unnest(${claims.map(({ name }) => name)}::text[],
        ${claims.map(({ delivered }) => delivered)}::text[],
        ${claims.map(({ mergedDigest }) => mergedDigest)}::text[])
        AS given(name, delivered, merged_digest)
      JOIN ${ident(kind)} known ON known.inventory_id = ${lookupId(inventoryId)} AND known.name = given.name
      ON CONFLICT (inventory_source_id, ${ident(column)})
        DO UPDATE SET delivered = excluded.delivered, merged_digest = excluded.merged_digest`);
  }

  /** Deletes the claims on objects that a source no longer delivers. */
  async release(
    kind: ImportedKind,
    { sourceId }: ImportScope,
    ids: readonly number[],
  ): Promise<void> {
    const { table, column } = CLAIMS[kind];
    await this.database.execute(sql`
      DELETE FROM ${ident(table)}
      WHERE inventory_source_id = ${sourceId} AND ${ident(column)} = ANY(${ids}::int[])`);
  }
}

/** Description of a delivered object without a description. */
const IMPORTED = 'imported';

const knownObjects = (
  kind: ImportedKind,
  { sourceId, inventoryId }: ImportScope,
  columns: Sql,
): Sql => {
  const { table, column } = CLAIMS[kind];
  return sql`
    SELECT known.id, known.name, ${columns} md5(known.variables) AS digest, known.is_imported,
      own.id IS NOT NULL AS is_claimed, md5(own.delivered) AS delivered_digest, own.merged_digest,
      EXISTS (SELECT 1 FROM ${ident(table)} other WHERE other.${ident(column)} = known.id
        AND other.inventory_source_id <> ${sourceId}) AS has_others
    FROM ${ident(kind)} known
    LEFT JOIN ${ident(table)} own
      ON own.${ident(column)} = known.id AND own.inventory_source_id = ${sourceId}
    WHERE known.inventory_id = ${inventoryId}`;
};
