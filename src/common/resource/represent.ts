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

/** An object as the API shows it: its fields are what its resource declares, besides these. */
export interface Representation {
  id: number;
  type: string;
  url: string;
  related: Readonly<Record<string, ShapedLink>>;
  summary_fields: Members;
  [field: string]: unknown;
}

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
  const [{ targets, roles, named }, extensions] = await loadAround(definition, rows, context);
  const shape = shapeOf(definition);
  const [first] = rows;
  // A list leaves some columns out, of all its rows; what PostgreSQL sends is never undefined.
  const fields = shape.shown.filter(({ column }) => first?.[column] !== undefined);
  return rows.map((row) => {
    const extension = extensions.get(row.id);
    const summary: Members = {};
    for (const { key, column, target } of shape.summarised) {
      const found = targets.get(target)?.get(Number(row[column]))?.summary;
      if (found) summary[key] = found;
    }
    const objectRoles = roles.get(row.id);
    if (objectRoles) summary.object_roles = objectRoles;
    const capabilities = capabilitiesOf(shape, definition, row);
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

/** Both ask before they wait, so that what they ask is one statement. */
function loadAround(
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
    const own = rows.filter((row) => row.type === variant.discriminator);
    return own.length > 0 ? [{ variant, own }] : [];
  });
  const full = await Promise.all(kinds.map(({ variant, own }) => loadRows(variant, own, context)));
  // The related rows of all kinds are requested together, and so in one statement.
  const shown = await Promise.all(
    zip(kinds, full).map(([{ variant }, found]) => represent(variant, found, context)),
  );
  const byId = new Map(shown.flat().map((one) => [one.id, one]));
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
    WHERE t.id = ANY(${idList(
      definition,
      rows.map((row) => row.id),
    )})`);
}

function capabilitiesOf(
  { capabilities }: Shape,
  { usable }: ResourceDefinition,
  row: Row,
): Members | null {
  let found: Members | null = null;
  for (const [word, asked] of capabilities) {
    const value = row[`can_${asked}`];
    // A rule over a null column is neither true nor false: the capability is denied.
    if (value !== undefined) (found ??= {})[word] = value === true && usable[word]?.(row) !== false;
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
    const own = target.variants ? targets.get(target)?.get(Number(id))?.url : target.url(id);
    if (own) related[name] = own;
  }
  for (const [name, suffix] of links) related[name] = url + suffix;
  for (const [name, path] of Object.entries(extension?.related ?? {})) {
    if (path === null) delete related[name];
    else related[name] = path;
  }
  return related;
}

/** Summaries of objects by id, of those alone that the caller may read. */
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
      target.own('s'),
      permit(target.policy, 'read', 's', actor),
    )}`);
  return new Map(rows.map((row) => [row.id, withoutNulls(row)]));
}
