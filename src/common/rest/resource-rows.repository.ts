import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { insertRow, updateRow, type ColumnValues } from '../../database/rows.js';
import { and, FALSE, ident, join, raw, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { existing } from '../invariants.js';
import type { ManyToMany, ResourceDefinition, Row, RowOf } from '../resource/define-resource.js';
import { idType, isPossibleId } from '../resource/ids.js';
import { relationCondition } from '../resource/relation-condition.js';
import { capabilityColumns } from '../resource/representation.js';
import { fixedCondition } from '../resource/select-rows.js';
import { sqlState, UNIQUE_VIOLATION } from '../../database/sql-state.js';
import { Invalid } from '../errors/errors.js';
import { mapValues, memberOf } from '../records.js';
import { destinationColumns } from './destinations.js';

/**
 * Returns the contract's 400 for a violated unique constraint that the resource declares, else
 * undefined.
 */
function uniqueViolation(definition: ResourceDefinition, error: unknown): Invalid | undefined {
  if (sqlState(error) !== UNIQUE_VIOLATION) return undefined;
  const declared = definition.unique[String(memberOf(error, 'constraint'))];
  if (declared === undefined) return undefined;
  if (typeof declared === 'string') return Invalid.all(declared);
  return new Invalid(mapValues(declared, (message) => [message]));
}

/**
 * Single rows of every resource and their links, with SQL from the declarations. The SQL of lists is in
 * `src/common/list`, the SQL of representations in `src/common/resource`.
 */
@Injectable()
export class ResourceRowsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns one row with its capabilities and the columns `may_read` and `may_act`. An id outside the
   * range of the column finds no row.
   *
   * @param action action that `may_act` refers to
   */
  withPermissions<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    id: number,
    actor: Actor,
    action: string,
  ): Promise<RowOf<Schema> | undefined> {
    return this.database.preparedRow(sql`
      SELECT ${rowColumns(definition, actor)},
        (${permit(definition.policy, 'read', 't', actor)}) AS may_read,
        (${action === 'read' ? TRUE : permit(definition.policy, action, 't', actor)}) AS may_act
      FROM ${ident(definition.table)} t
      WHERE ${and(isPossibleId(definition, id) ? sql`t.id = ${id}` : FALSE, definition.partCondition('t'))}`);
  }

  /**
   * Locks and returns the current row, with its capabilities and the columns of `destinationColumns`.
   */
  lock<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    id: number,
    actor: Actor,
  ): Promise<RowOf<Schema> | undefined> {
    const columns = [rowColumns(definition, actor), ...destinationColumns(definition, actor)];
    return this.database.preparedRow(sql`
      SELECT ${join(columns)}
      FROM ${ident(definition.table)} t WHERE t.id = ${id} FOR UPDATE OF t`);
  }

  /**
   * Returns a row just written, with its capabilities. The read permission is not checked: a caller
   * with permission to write an object also sees the result.
   */
  async readWritten<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    id: number,
    actor: Actor,
  ): Promise<RowOf<Schema>> {
    return this.database.rowOrFail<RowOf<Schema>>(sql`
      SELECT ${rowColumns(definition, actor)} FROM ${ident(definition.table)} t WHERE t.id = ${id}`);
  }

  insert<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    columns: ColumnValues,
  ): Promise<RowOf<Schema>> {
    return this.write(definition, insertRow(definition.table, columns));
  }

  /** Updates a locked row. */
  update<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    id: number,
    columns: ColumnValues,
  ): Promise<RowOf<Schema>> {
    return this.write(definition, updateRow(definition.table, id, columns));
  }

  async delete({ table }: ResourceDefinition, id: number): Promise<void> {
    await this.database.execute(sql`DELETE FROM ${ident(table)} WHERE id = ${id}`);
  }

  /** Returns true if the row exists and meets the rule, an SQL condition on `t`. */
  matches({ table }: ResourceDefinition, id: number, rule: Sql): Promise<boolean> {
    return this.evaluate(
      sql`EXISTS (SELECT 1 FROM ${ident(table)} t WHERE t.id = ${id} AND ${rule})`,
    );
  }

  /** Evaluates a rule that refers to no row. */
  async evaluate(rule: Sql): Promise<boolean> {
    if (rule === TRUE || rule === FALSE) return rule === TRUE;
    return (await this.database.row<{ may: boolean }>(sql`SELECT (${rule}) AS may`))?.may === true;
  }

  /** Returns a row and prevents its deletion until the transaction ends, so that it can be linked. */
  async lockForLink(definition: ResourceDefinition, id: number): Promise<Row | undefined> {
    if (!isPossibleId(definition, id)) return undefined;
    return this.database.row<Row>(sql`
      SELECT t.* FROM ${ident(definition.table)} t
      WHERE t.id = ${id} AND ${definition.partCondition('t')} FOR KEY SHARE`);
  }

  /**
   * Returns the ids of the objects that a relation attaches to the parent, in ascending order. Locks
   * the parent first, so that two concurrent requests that attach objects see each other's rows.
   */
  async attachedIds(definition: ResourceDefinition, id: number, name: string): Promise<number[]> {
    const relation = existing(definition.relations[name], 'a relation is declared');
    await this.database.execute(
      sql`SELECT 1 FROM ${ident(definition.table)} WHERE id = ${id} FOR UPDATE`,
    );
    return this.database.ids(sql`
      SELECT t.id FROM ${ident(relation.target().table)} t
      WHERE ${relationCondition(relation, sql`${id}::${raw(idType(definition))}`, 't')} ORDER BY t.id`);
  }

  /** @returns false if the child is attached already */
  async attach(relation: ManyToMany, parent: number, child: number): Promise<boolean> {
    const fixed = Object.entries(relation.fixed ?? {});
    const { sourceColumn, targetColumn } = relation;
    const columns = [sourceColumn, targetColumn, ...fixed.map(([column]) => column)];
    const values = [parent, child, ...fixed.map(([, value]) => value)];
    return this.database.affects(sql`
      INSERT INTO ${ident(relation.table)} (${join(columns.map((column) => ident(column)))})
      VALUES (${join(values.map((value) => sql`${value}`))}) ON CONFLICT DO NOTHING`);
  }

  /** @returns false if the child is not attached */
  async detach(relation: ManyToMany, parent: number, child: number): Promise<boolean> {
    return this.database.affects(sql`
      DELETE FROM ${ident(relation.table)} lnk
      WHERE ${ident('lnk', relation.sourceColumn)} = ${parent}
        AND ${ident('lnk', relation.targetColumn)} = ${child}
        AND ${fixedCondition('lnk', relation.fixed)}`);
  }

  private async write<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    statement: Sql,
  ): Promise<RowOf<Schema>> {
    try {
      return await this.database.rowOrFail<RowOf<Schema>>(statement);
    } catch (error) {
      throw uniqueViolation(definition, error) ?? error;
    }
  }
}

const rowColumns = (definition: ResourceDefinition, actor: Actor): Sql =>
  join([sql`t.*`, ...capabilityColumns(definition, actor)]);
