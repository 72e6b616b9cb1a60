import { join, sql, type Sql } from '../../database/sql.js';
import { instantOf } from '../../database/instants.js';
import { permit, type Actor, type ObjectRole } from '../access.js';
import { findResource, type ResourceDefinition, type Row } from './define-resource.js';
import type { RepresentContext } from './extension.js';
import { idList } from './ids.js';
import { namedUrls } from './natural-key.js';
import { describeRole } from './role-descriptions.js';
import { selectRows } from './select-rows.js';
import { shapeOf } from './shape.js';

/** Members of a summary, by name. */
export type Members = Record<string, unknown>;

/** Referenced row. */
interface Target {
  /** Null for an object without a name, such as a user, that the caller cannot read. */
  summary: Members | null;
  /** URL of an object whose type is only known from its row; undefined if the type has no URL. */
  url?: string | undefined;
}

export type Targets = ReadonlyMap<ResourceDefinition, ReadonlyMap<number, Target>>;

/** Data of other rows that representations show. */
export interface Related {
  targets: Targets;
  /** `object_roles` by object id. */
  roles: ReadonlyMap<number, Members>;
  /** Natural-key paths by object id; on details only. */
  named: ReadonlyMap<number, string>;
}

type TargetRow = Row & { target_type?: string; target_readable: boolean };

/**
 * Loads the referenced objects that are summarized or whose type is only known from their row, the roles
 * of the rows, and their natural keys. All queries are sent in one batch, so the number of statements does
 * not depend on the number or the content of the rows.
 */
export async function loadRelated(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Related> {
  const { actor, batch } = context;
  const ids = rows.map(({ id }) => id);
  const loads = [...idsByTarget(definition, rows)].map(async ([target, referenced]) => {
    const found = await batch.rows<TargetRow>(
      targetRows(target, hasIdIn(target, [...referenced]), actor),
    );
    return [target, targetsOf(target, found)] as const;
  });
  const [targets, roles, named] = await Promise.all([
    Promise.all(loads),
    definition.roles.length > 0
      ? batch.rows<RoleFound>(context.roles.ofObjects(definition.type, ids))
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
  const { references, summarized } = shapeOf(definition);
  const idsOf = new Map<ResourceDefinition, Set<number>>();
  for (const { column, target } of [
    ...summarized,
    ...references.filter(({ target }) => target.variants),
  ]) {
    const ids = idsOf.get(target) ?? new Set<number>();
    for (const row of rows) if (typeof row[column] === 'number') ids.add(row[column]);
    // Without ids, the target is not queried: PostgreSQL would plan and run the query regardless.
    if (ids.size > 0) idsOf.set(target, ids);
  }
  return idsOf;
}

/** Returns the query for referenced rows: their summaries, and whether the caller can read each row. */
function targetRows(target: ResourceDefinition, condition: Sql, actor: Actor): Sql {
  const isReadable = permit(target.policy, 'read', 's', actor);
  const columns = [shapeOf(target).columns.summary, sql`(${isReadable}) AS target_readable`];
  if (target.variants) columns.push(sql`s.type AS target_type`);
  return selectRows(target, 's', join(columns), condition);
}

const hasIdIn = (target: ResourceDefinition, ids: readonly number[]): Sql =>
  sql`s.id = ANY(${idList(target, ids)})`;

function targetsOf(target: ResourceDefinition, found: readonly TargetRow[]): Map<number, Target> {
  const { instants } = shapeOf(target);
  return new Map(
    found.map(({ target_type: type, target_readable: isReadable, ...row }): [number, Target] => {
      for (const name of instants) row[name] = instantOf(row[name]);
      const summary = isReadable ? withoutNulls(row) : nameIn(row);
      // Each object has its URL in the collection of its own type.
      return [row.id, type === undefined ? { summary } : { summary, url: urlOf(type, row.id) }];
    }),
  );
}

/**
 * Returns the id and the name, for callers who cannot read the object; null for an object without a name
 * (docs/contract/conventions.md#summaries).
 */
const nameIn = ({ id, name }: Row): Members | null => (name === undefined ? null : { id, name });

const summariesIn = (
  target: ResourceDefinition,
  found: readonly TargetRow[],
): Map<number, Members> =>
  new Map(
    [...targetsOf(target, found)].flatMap(([id, { summary }]) => (summary ? [[id, summary]] : [])),
  );

/**
 * Returns summaries of the objects that a query for ids finds, in a batch with other queries. The caller
 * must be able to read an object that references them.
 */
export async function querySummaries(
  target: ResourceDefinition,
  ids: Sql,
  { batch, actor }: Pick<RepresentContext, 'batch' | 'actor'>,
): Promise<Map<number, Members>> {
  const rows = targetRows(target, sql`s.id IN (${ids})`, actor);
  return summariesIn(target, await batch.rows<TargetRow>(rows));
}

/** Returns summaries of objects by id. The caller must be able to read an object that references them. */
export async function referencedSummaries(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, Members>> {
  if (ids.length === 0) return new Map();
  const rows = targetRows(target, hasIdIn(target, ids), actor);
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
