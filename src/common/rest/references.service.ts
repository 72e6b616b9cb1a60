import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { and, ident, not, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { Field } from '../fields/field.js';
import { invalidPk } from '../fields/fault-texts.js';
import { Forbidden, Invalid, type FieldErrors } from '../errors/errors.js';
import { resource, type ResourceDefinition } from '../resource/define-resource.js';
import { idList } from '../resource/ids.js';
import type { Values } from './hooks.js';
import { append } from '../records.js';

/**
 * Verifies the objects that a body references: a missing object gives 400, and an object on which the
 * caller lacks the permission gives 403 (docs/contract/conventions.md#readable-or-not).
 */
@Injectable()
export class ReferencesService {
  constructor(private readonly database: Database) {}

  /** @throws Invalid naming every reference whose object does not exist */
  async assertExist(definition: ResourceDefinition, values: Values): Promise<void> {
    const errors: FieldErrors = {};
    for (const [target, fields] of this.byTarget(definition, values)) {
      const ids = fields.map((field) => idIn(values, field));
      const rows = await this.database.rows<{ id: number }>(sql`
        SELECT r.id FROM ${ident(target.table)} r
        WHERE ${and(sql`r.id = ANY(${idList(target, ids)})`, target.partCondition('r'), target.unhidden?.('r') ?? TRUE)}
        FOR KEY SHARE`);
      const existingIds = new Set(rows.map(({ id }) => id));
      for (const field of fields) {
        const id = idIn(values, field);
        if (!existingIds.has(id)) errors[field.name] = [(field.unknown ?? invalidPk)(id)];
      }
    }
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }

  /** @throws Forbidden if the caller lacks the required permission on a referenced object */
  async assertUsable(definition: ResourceDefinition, values: Values, actor: Actor): Promise<void> {
    if (actor.isSuperuser) return;
    for (const [target, fields] of this.byTarget(definition, values)) {
      for (const field of fields) {
        const action = field.needs ?? 'read';
        await this.assertAllowed(target, [idIn(values, field)], action, actor, field.refusal);
      }
    }
  }

  /**
   * @param refusal text that replaces the default message
   * @throws Forbidden unless the caller has `action` on every object
   */
  async assertAllowed(
    target: ResourceDefinition,
    ids: readonly number[],
    action: string,
    actor: Actor,
    refusal?: string,
  ): Promise<void> {
    if (actor.isSuperuser || ids.length === 0) return;
    const allowed = await this.database.rows(sql`
      SELECT r.id FROM ${ident(target.table)} r
      WHERE ${and(sql`r.id = ANY(${idList(target, ids)})`, permit(target.policy, action, 'r', actor))}`);
    if (allowed.length < new Set(ids).size) throw new Forbidden(refusal);
  }

  /**
   * Locks objects against deletion.
   *
   * @returns the existing ids, in the order of `ids`
   */
  async lockExisting(target: ResourceDefinition, ids: readonly number[]): Promise<number[]> {
    const rows = await this.database.rows<{ id: number }>(sql`
      SELECT id FROM ${ident(target.table)} WHERE id = ANY(${idList(target, ids)}) FOR KEY SHARE`);
    const existingIds = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => existingIds.has(id));
  }

  private byTarget(
    definition: ResourceDefinition,
    values: Values,
  ): Map<ResourceDefinition, Field[]> {
    const grouped = new Map<ResourceDefinition, Field[]>();
    for (const field of definition.fields) {
      if (!field.target || typeof values[field.name] !== 'number') continue;
      append(grouped, field.target(), field);
    }
    return grouped;
  }
}

/** Returns the id of the reference in the values. */
const idIn = (values: Values, { name }: Field): number => Number(values[name]);

/**
 * Returns an SQL condition that is true if the caller lacks `action` on at least one of the objects.
 *
 * @param except query for the ids of objects that are permitted regardless of the policy
 */
export function anyDenied(
  type: string,
  action: string,
  ids: readonly number[],
  actor: Actor,
  except?: Sql,
): Sql {
  const definition = resource(type);
  const { table, policy } = definition;
  return sql`EXISTS (SELECT 1 FROM ${ident(table)} t WHERE ${and(
    sql`t.id = ANY(${idList(definition, ids)})`,
    except ? sql`NOT EXISTS (SELECT 1 FROM (${except}) exempt (id) WHERE exempt.id = t.id)` : TRUE,
    not(permit(policy, action, 't', actor)),
  )})`;
}
