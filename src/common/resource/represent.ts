import { and, ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, RoleStore, type Actor } from '../access.js';
import { ENCRYPTED } from '../fields/text.js';
import type { Extension, RepresentContext, ResourceDefinition, Row } from './define-resource.js';
import { namedUrls } from './natural-key.js';
import { findResource } from './registry.js';
import { describeRole } from './role-words.js';
import { shapeOf, type Shape } from './shape.js';
import { zip } from '../invariants.js';

export type Representation = Record<string, unknown>;

/** Columns of a page: what is shown, and one boolean for each capability of the caller. */
export function selectColumns(definition: ResourceDefinition, actor: Actor, detail: boolean): Sql {
  const { list, detail: all } = shapeOf(definition).columns;
  return join([detail ? all : list, ...capabilityColumns(definition, actor)], ', ');
}

/** `can_<word>` columns: what the caller may do with each row of `t`. */
export function capabilityColumns(definition: ResourceDefinition, actor: Actor): Sql[] {
  const asked = new Set(shapeOf(definition).capabilities.map(([, first]) => first));
  return Object.entries(definition.capabilities)
    .filter(([word]) => asked.has(word))
    .map(
      ([word, action]) =>
        sql`(${permit(definition.policy, action, 't', actor)}) AS ${ident(`can_${word}`)}`,
    );
}

/**
 * Turns rows into representations: the fields, `related` and `summary_fields`. The number of
 * statements depends on the resource, never on the number of rows. Related objects the caller may
 * not read are not summarised.
 */
export async function represent(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Representation[]> {
  if (rows.length === 0) return [];
  if (definition.variants) return representVariants(definition, rows, context);
  const targets = await loadTargets(definition, rows, context);
  const roles = await loadObjectRoles(definition, rows, context);
  const extensions = (await definition.extend?.(rows, context)) ?? new Map<number, Extension>();
  const shape = shapeOf(definition);
  const named = context.detail ? await namedUrls(definition, rows, context) : null;
  return rows.map((row) => {
    const extension = extensions.get(row.id);
    const summary: Representation = {};
    for (const { key, column, target } of shape.summarised) {
      const found = targets.get(target)?.get(row[column] as number)?.summary;
      if (found) summary[key] = found;
    }
    const objectRoles = roles?.get(row.id);
    if (objectRoles) summary.object_roles = objectRoles;
    const capabilities = capabilitiesOf(shape, row);
    if (capabilities) summary.user_capabilities = capabilities;
    const url = definition.url(row.id);
    return {
      id: row.id,
      type: definition.type,
      url,
      related: relatedOf(shape, url, { row, extension, targets, namedUrl: named?.get(row.id) }),
      summary_fields: Object.assign(summary, extension?.summary_fields),
      ...fieldValues(shape, row),
      ...extension?.fields,
    };
  });
}

async function representVariants(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Representation[]> {
  const byId = new Map<number, Representation>();
  for (const variant of definition.variants?.() ?? []) {
    const own = rows.filter((row) => row.type === variant.discriminator);
    if (own.length === 0) continue;
    const full = await loadRows(variant, own, context);
    const shown = await represent(variant, full, context);
    for (const [{ id }, one] of zip(full, shown)) byId.set(id, one);
  }
  return rows.flatMap((row): Representation[] => {
    const shown = byId.get(row.id);
    return shown ? [shown] : [];
  });
}

/** The full rows of one variant, in one statement. */
function loadRows(
  definition: ResourceDefinition,
  rows: readonly Row[],
  { database, actor, detail }: RepresentContext,
): Promise<Row[]> {
  return database.preparedRows<Row>(sql`
    SELECT ${selectColumns(definition, actor, detail)}
    FROM ${ident(definition.table)} t
    WHERE t.id = ANY(${rows.map((row) => row.id)}::int[])`);
}

function fieldValues({ shown }: Shape, row: Row): Representation {
  const values: Representation = {};
  for (const { name, column, isSecret } of shown) {
    const value = row[column];
    // A list leaves some columns out; what PostgreSQL sends is never undefined.
    if (value === undefined) continue;
    values[name] = isSecret ? (value === '' || value === null ? '' : ENCRYPTED) : value;
  }
  return values;
}

function capabilitiesOf({ capabilities }: Shape, row: Row): Representation | null {
  let found: Representation | null = null;
  for (const [word, asked] of capabilities) {
    const value = row[`can_${asked}`];
    // A rule over a column that is null is neither true nor false: nobody may.
    if (value !== undefined) (found ??= {})[word] = value === true;
  }
  return found;
}

interface RelatedParts {
  row: Row;
  extension: Extension | undefined;
  targets: Targets;
  namedUrl: string | undefined;
}

function relatedOf(
  { references, links }: Shape,
  url: string,
  { row, extension, targets, namedUrl }: RelatedParts,
): Record<string, string> {
  const related: Record<string, string> = namedUrl ? { named_url: namedUrl } : {};
  for (const { name, column, target } of references) {
    const id = row[column];
    if (id === null || id === undefined) continue;
    const own = target.variants ? targets.get(target)?.get(id as number)?.url : target.url(id);
    if (own) related[name] = own;
  }
  for (const [name, suffix] of links) related[name] = url + suffix;
  for (const [name, path] of Object.entries(extension?.related ?? {})) {
    if (path === null) delete related[name];
    else related[name] = path;
  }
  return related;
}

/** What a row refers to. */
interface Target {
  /** Null when the caller may not read it. */
  summary: Representation | null;
  /** Of an object whose kind its own row tells; undefined when that kind has no pages. */
  url?: string | undefined;
}

type Targets = ReadonlyMap<ResourceDefinition, ReadonlyMap<number, Target>>;

/** The objects that rows refer to, as far as they are summarised or only they know their URL. */
async function loadTargets(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Targets> {
  const { references, summarised } = shapeOf(definition);
  const idsOf = new Map<ResourceDefinition, Set<number>>();
  for (const { column, target } of [
    ...summarised,
    ...references.filter(({ target }) => target.variants),
  ]) {
    const ids = idsOf.get(target) ?? new Set<number>();
    for (const row of rows) if (typeof row[column] === 'number') ids.add(row[column]);
    idsOf.set(target, ids);
  }
  const loaded = new Map<ResourceDefinition, ReadonlyMap<number, Target>>();
  for (const [target, ids] of idsOf) {
    const load = target.variants ? variantsOf : plainTargets;
    loaded.set(target, await load(target, [...ids], context));
  }
  return loaded;
}

async function plainTargets(
  target: ResourceDefinition,
  ids: readonly number[],
  context: RepresentContext,
): Promise<Map<number, Target>> {
  const summaries = await summariesOf(target, ids, context);
  return new Map([...summaries].map(([id, summary]) => [id, { summary }]));
}

/**
 * Objects of several kinds in one table: each lives under the collection of its own kind. A list asks
 * for no ids as well, since what rows refer to must not decide how many statements it costs.
 */
async function variantsOf(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor, detail }: RepresentContext,
): Promise<Map<number, Target>> {
  if (detail && ids.length === 0) return new Map();
  const rows = await database.preparedRows<Row & { target_type: string; target_open: boolean }>(sql`
    SELECT ${shapeOf(target).columns.summary}, s.type AS target_type,
      (${permit(target.policy, 'read', 's', actor)}) AS target_open
    FROM ${ident(target.table)} s WHERE s.id = ANY(${ids}::int[])`);
  return new Map(
    rows.map(({ target_type: type, target_open: isOpen, ...row }) => [
      row.id,
      { summary: isOpen ? withoutNulls(row) : null, url: findResource(type)?.url(row.id) },
    ]),
  );
}

const withoutNulls = (row: Row): Representation =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/** `summary_fields` entries of objects by id, as far as the caller may read them. */
export async function summariesOf(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, Representation>> {
  if (ids.length === 0) return new Map();
  const rows = await database.preparedRows<Row>(sql`
    SELECT ${shapeOf(target).columns.summary} FROM ${ident(target.table)} s
    WHERE ${and(
      sql`s.id = ANY(${ids}::int[])`,
      target.own('s'),
      permit(target.policy, 'read', 's', actor),
    )}`);
  return new Map(rows.map((row) => [row.id, withoutNulls(row)]));
}

async function loadObjectRoles(
  definition: ResourceDefinition,
  rows: readonly Row[],
  { find }: RepresentContext,
): Promise<Map<number, Representation> | null> {
  if (definition.roles.length === 0) return null;
  const ids = rows.map(({ id }) => id);
  const found = await find(RoleStore).ofObjects(definition.type, ids);
  const byObject = new Map<number, Representation>();
  for (const { id, object_id, role_field } of found) {
    const all = byObject.get(object_id) ?? {};
    all[role_field] = { id, ...describeRole(definition.type, definition.label, role_field) };
    byObject.set(object_id, all);
  }
  return byObject;
}
