import { join, sql, type Sql } from '../../database/sql.js';
import { instantOf } from '../../database/instants.js';
import { permit, RoleStore, type Actor, type ObjectRole } from '../access.js';
import type { RepresentContext, ResourceDefinition, Row } from './define-resource.js';
import { idList } from './ids.js';
import { namedUrls } from './natural-key.js';
import { findResource } from './registry.js';
import { describeRole } from './role-words.js';
import { selectRows } from './select-rows.js';
import { shapeOf } from './shape.js';

/** What is shown of an object, by name. */
export type Members = Record<string, unknown>;

/** What a row refers to. */
interface Target {
  /** Null for an account that the caller may not read. */
  summary: Members | null;
  /** Of an object whose kind its own row tells; undefined when that kind has no pages. */
  url?: string | undefined;
}

export type Targets = ReadonlyMap<ResourceDefinition, ReadonlyMap<number, Target>>;

/** What representations of rows show of other rows. */
export interface Related {
  targets: Targets;
  /** `object_roles` by the id of their object. */
  roles: ReadonlyMap<number, Members>;
  /** Paths by name; on details only. */
  named: ReadonlyMap<number, string>;
}

type TargetRow = Row & { target_type?: string; target_open: boolean };

/**
 * The objects that rows refer to, as far as they are summarised or only they know their URL, the roles
 * of the rows, and their names: asked together, whatever they refer to, so that neither the number
 * of rows nor what they hold decides how many statements a list costs.
 */
export async function loadRelated(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Related> {
  const { actor, together, find } = context;
  const ids = rows.map(({ id }) => id);
  const asked = [...idsByTarget(definition, rows)].map(async ([target, near]) => {
    const found = await together.ask<TargetRow>(
      targetRows(target, areAmong(target, [...near]), actor),
    );
    return [target, targetsOf(target, found)] as const;
  });
  const [targets, roles, named] = await Promise.all([
    Promise.all(asked),
    definition.roles.length > 0
      ? together.ask<RoleFound>(find(RoleStore).ofObjects(definition.type, ids))
      : [],
    context.detail ? namedUrls(definition, rows, context) : new Map<number, string>(),
  ]);
  return { targets: new Map(targets), roles: rolesByObject(definition, roles), named };
}

type RoleFound = Row & ObjectRole;

function idsByTarget(
  definition: ResourceDefinition,
  rows: readonly Row[],
): Map<ResourceDefinition, Set<number>> {
  const { references, summarised } = shapeOf(definition);
  const idsOf = new Map<ResourceDefinition, Set<number>>();
  for (const { column, target } of [
    ...summarised,
    ...references.filter(({ target }) => target.variants),
  ]) {
    const ids = idsOf.get(target) ?? new Set<number>();
    for (const row of rows) if (typeof row[column] === 'number') ids.add(row[column]);
    // What no row refers to is not asked for: PostgreSQL would plan and start it all the same.
    if (ids.size > 0) idsOf.set(target, ids);
  }
  return idsOf;
}

/** Rows of referenced objects, with what decides how much of each is shown. */
function targetRows(target: ResourceDefinition, isMeant: Sql, actor: Actor): Sql {
  const isOpen = permit(target.policy, 'read', 's', actor);
  const columns = [shapeOf(target).columns.summary, sql`(${isOpen}) AS target_open`];
  if (target.variants) columns.push(sql`s.type AS target_type`);
  return selectRows(target, 's', join(columns, ', '), isMeant);
}

const areAmong = (target: ResourceDefinition, ids: readonly number[]): Sql =>
  sql`s.id = ANY(${idList(target, ids)})`;

function targetsOf(target: ResourceDefinition, found: readonly TargetRow[]): Map<number, Target> {
  const { instants } = shapeOf(target);
  return new Map(
    found.map(({ target_type: type, target_open: isOpen, ...row }): [number, Target] => {
      for (const name of instants) row[name] = instantOf(row[name]);
      const summary = isOpen ? withoutNulls(row) : nameIn(row);
      // Each lives under the collection of its own kind.
      return [row.id, type === undefined ? { summary } : { summary, url: urlOf(type, row.id) }];
    }),
  );
}

/** Returns id and name, for callers who may not read an object (docs/contract/conventions.md#summaries). */
const nameIn = ({ id, name }: Row): Members | null => (name === undefined ? null : { id, name });

const summariesIn = (
  target: ResourceDefinition,
  found: readonly TargetRow[],
): Map<number, Members> =>
  new Map(
    [...targetsOf(target, found)].flatMap(([id, { summary }]) => (summary ? [[id, summary]] : [])),
  );

/**
 * Summaries of the objects that a query for ids finds, to which something refers that the caller reads:
 * asked with what is asked at the same moment.
 */
export async function summariesAmong(
  target: ResourceDefinition,
  ids: Sql,
  { together, actor }: Pick<RepresentContext, 'together' | 'actor'>,
): Promise<Map<number, Members>> {
  const rows = targetRows(target, sql`s.id IN (${ids})`, actor);
  return summariesIn(target, await together.ask<TargetRow>(rows));
}

/** Summaries of objects to which something refers that the caller reads. */
export async function summariesReferredTo(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, Members>> {
  if (ids.length === 0) return new Map();
  const rows = targetRows(target, areAmong(target, ids), actor);
  return summariesIn(target, await database.preparedRows<TargetRow>(rows));
}

const urlOf = (type: string, id: number): string | undefined => findResource(type)?.url(id);

function rolesByObject(
  { type, label }: ResourceDefinition,
  found: readonly ObjectRole[],
): Map<number, Members> {
  const roles = new Map<number, Members>();
  for (const { id, object_id: object, role_field: field } of found) {
    const all = roles.get(object) ?? {};
    all[field] = { id, ...describeRole(type, label, field) };
    roles.set(object, all);
  }
  return roles;
}

export const withoutNulls = (row: Row): Members =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
