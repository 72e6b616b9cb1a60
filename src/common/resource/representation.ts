import { settleAll } from '../../database/settle-all.js';
import { and, ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { ENCRYPTED } from '../fields/text.js';
import type { ResourceDefinition, Row } from './define-resource.js';
import type { Extension, RepresentContext } from './extension.js';
import { idList } from './ids.js';
import {
  loadRelated,
  withoutNulls,
  type Members,
  type Related,
  type Targets,
} from './related-rows.js';
import { shapeOf, type ShapedLink, type Shape } from './shape.js';
import { zip } from '../invariants.js';

/** Representation of an object in the API. Besides these members it has the fields of its resource. */
export interface Representation {
  id: number;
  type: string;
  url: string;
  related: Readonly<Record<string, ShapedLink>>;
  summary_fields: Members;
  [field: string]: unknown;
}

/** Returns the columns of a page: the shown columns, and one boolean per capability of the caller. */
export function selectColumns(definition: ResourceDefinition, actor: Actor, detail: boolean): Sql {
  const { list, detail: all } = shapeOf(definition).columns;
  return join([detail ? all : list, ...capabilityColumns(definition, actor)]);
}

/** Returns the `can_<capability>` columns: the capabilities of the caller for each row of `t`. */
export function capabilityColumns(definition: ResourceDefinition, actor: Actor): Sql[] {
  const evaluated = new Set(shapeOf(definition).capabilities.map(([, first]) => first));
  return Object.entries(definition.capabilities)
    .filter(([name]) => evaluated.has(name))
    .map(
      ([name, action]) =>
        sql`(${permit(definition.policy, action, 't', actor)}) AS ${ident(`can_${name}`)}`,
    );
}

/**
 * Converts rows to representations: the fields, `related` and `summary_fields`. The number of statements
 * depends on the resource, never on the number of rows. Summaries of objects that the caller cannot read
 * contain only id and name.
 */
export async function represent(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Representation[]> {
  if (rows.length === 0) return [];
  if (definition.variants) return representVariants(definition, rows, context);
  const [{ targets, roles, named }, extensions] = await loadAdditions(definition, rows, context);
  const shape = shapeOf(definition);
  const [first] = rows;
  // A list omits some columns in all its rows. PostgreSQL never returns undefined.
  const fields = shape.shown.filter(({ column }) => first?.[column] !== undefined);
  return rows.map((row) => {
    const extension = extensions.get(row.id);
    const summary: Members = {};
    for (const { key, column, target } of shape.summarized) {
      const found = targets.get(target)?.get(Number(row[column]))?.summary;
      if (found) summary[key] = found;
    }
    const objectRoles = roles.get(row.id);
    if (objectRoles) summary.object_roles = objectRoles;
    const capabilities = capabilitiesOf(shape, definition, row, context.actor);
    if (capabilities) summary.user_capabilities = capabilities;
    const url = definition.url(row.id);
    const shown: Representation = {
      id: row.id,
      type: definition.type,
      url,
      related: relatedOf(shape, url, { row, extension, targets, namedUrl: named.get(row.id) }),
      summary_fields: Object.assign(summary, extension?.summary_fields),
    };
    for (const { name, column, isSecret } of fields) {
      const value = row[column];
      shown[name] = isSecret ? (value === '' || value === null ? '' : ENCRYPTED) : value;
    }
    return Object.assign(shown, extension?.fields);
  });
}

/** Loads related rows and extensions at the same time, so that their queries are sent in one batch. */
function loadAdditions(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<[Related, ReadonlyMap<number, Extension>]> {
  const { extension } = definition;
  const extended = extension ? context.providers.find(extension) : definition;
  return settleAll([
    loadRelated(definition, rows, context),
    extended.extend?.(rows, context) ?? new Map<number, Extension>(),
  ]);
}

async function representVariants(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Representation[]> {
  const kinds = (definition.variants?.() ?? []).flatMap((variant) => {
    const part = rows.filter((row) => row.type === variant.discriminator);
    return part.length > 0 ? [{ variant, part }] : [];
  });
  const all = await Promise.all(kinds.map(({ variant, part }) => loadRows(variant, part, context)));
  // The related rows of all types are requested at the same time, so they are loaded in one batch.
  const shown = await Promise.all(
    zip(kinds, all).map(([{ variant }, found]) => represent(variant, found, context)),
  );
  const byId = new Map(shown.flat().map((item) => [item.id, item]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Returns the full rows of one variant, with one statement. */
function loadRows(
  definition: ResourceDefinition,
  rows: readonly Row[],
  { database, actor, detail }: RepresentContext,
): Promise<Row[]> {
  return database.preparedRows<Row>(sql`
    SELECT ${selectColumns(definition, actor, detail)}
    FROM ${ident(definition.table)} t
    WHERE t.id = ANY(${idList(
      definition,
      rows.map((row) => row.id),
    )})`);
}

function capabilitiesOf(
  { capabilities }: Shape,
  { usable }: ResourceDefinition,
  row: Row,
  actor: Actor,
): Members | null {
  let found: Members | null = null;
  for (const [name, evaluated] of capabilities) {
    const value = row[`can_${evaluated}`];
    // A permission condition over a null column is null: the capability is denied.
    if (value !== undefined)
      (found ??= {})[name] = value === true && usable[name]?.(row, actor) !== false;
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
): Record<string, ShapedLink> {
  const related: Record<string, ShapedLink> = {};
  if (namedUrl) related.named_url = namedUrl;
  for (const { name, column, target } of references) {
    const id = row[column];
    if (id === null || id === undefined) continue;
    const path = target.variants ? targets.get(target)?.get(Number(id))?.url : target.url(id);
    if (path) related[name] = path;
  }
  for (const [name, suffix] of links) related[name] = url + suffix;
  for (const [name, path] of Object.entries(extension?.related ?? {})) {
    if (path === null) delete related[name];
    else related[name] = path;
  }
  return related;
}

/** Returns summaries by id of the objects that the caller can read. */
export async function summariesOf(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, Members>> {
  if (ids.length === 0) return new Map();
  const rows = await database.preparedRows<Row>(sql`
    SELECT ${shapeOf(target).columns.summary} FROM ${ident(target.table)} s
    WHERE ${and(
      sql`s.id = ANY(${idList(target, ids)})`,
      target.partCondition('s'),
      permit(target.policy, 'read', 's', actor),
    )}`);
  return new Map(rows.map((row) => [row.id, withoutNulls(row)]));
}
