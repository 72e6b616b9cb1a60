import type { Database } from '../../database/database.js';
import { and, ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { Field } from '../fields/field.js';
import { ENCRYPTED } from '../fields/validate.js';
import type { Extension, RepresentContext, ResourceDefinition, Row } from './define-resource.js';
import { namedUrls } from './natural-key.js';
import { findResource } from './registry.js';
import { describeRole } from './role-words.js';

export type Representation = Record<string, unknown>;

/** Columns of a page: what is shown, and one boolean for each capability of the caller. */
export function selectColumns(
  definition: ResourceDefinition,
  alias: string,
  actor: Actor,
  detail: boolean,
): Sql {
  const columns = definition.fields
    .filter((field) => field.column !== null && !field.internal && (detail || !field.detailOnly))
    .map((field) => ident(alias, field.column!));
  if (definition.variants) columns.push(ident(alias, 'type'));
  return join([...columns, ...capabilityColumns(definition, alias, actor)], ', ');
}

/** `can_<word>` columns: what the caller may do with each row. */
export function capabilityColumns(
  definition: ResourceDefinition,
  alias: string,
  actor: Actor,
): Sql[] {
  const asked = new Set(capabilityWords(definition).values());
  return [...asked].map((word) => {
    const action = definition.capabilities[word]!;
    return sql`(${permit(definition.policy, action, alias, actor)}) AS ${ident(`can_${word}`)}`;
  });
}

/** An ordinary caller, for comparing rules. */
const ANYBODY: Actor = { id: 0, username: '', isSuperuser: false, isSystemAuditor: false };
const sharedWords = new WeakMap<ResourceDefinition, Map<string, string>>();

/** Each word with the first one that follows the same rule: equal rules are asked once a row. */
function capabilityWords(definition: ResourceDefinition): ReadonlyMap<string, string> {
  const known = sharedWords.get(definition);
  if (known) return known;
  const firstOf = new Map<string, string>();
  const words = new Map<string, string>();
  for (const [word, action] of Object.entries(definition.capabilities)) {
    const { text, values } = permit(definition.policy, action, 't', ANYBODY).toQuery();
    // Auditors may read what they may not do anything else to.
    const rule = JSON.stringify([action === 'read', text, values]);
    if (!firstOf.has(rule)) firstOf.set(rule, word);
    words.set(word, firstOf.get(rule)!);
  }
  sharedWords.set(definition, words);
  return words;
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
  const summaries = await loadSummaries(definition, rows, context);
  const roles = await loadObjectRoles(definition, rows, context.database);
  const extensions = (await definition.extend?.(rows, context)) ?? new Map<number, Extension>();
  const named = context.detail ? await namedUrls(definition, rows, context) : null;
  return rows.map((row) => {
    const extension = extensions.get(row.id);
    const summary: Representation = {};
    for (const { key, column, byId } of summaries) {
      const found = byId.get(row[column] as number);
      if (found) summary[key] = found;
    }
    const objectRoles = roles?.get(row.id);
    if (objectRoles) summary.object_roles = objectRoles;
    const capabilities = capabilitiesOf(definition, row);
    if (capabilities) summary.user_capabilities = capabilities;
    return {
      id: row.id,
      type: definition.type,
      url: definition.url(row.id),
      related: relatedOf(definition, row, extension, named?.get(row.id)),
      summary_fields: { ...summary, ...extension?.summary_fields },
      ...fieldValues(definition, row),
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
    for (const shown of await represent(variant, full, context))
      byId.set(shown.id as number, shown);
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
  return database.rows<Row>(sql`
    SELECT ${selectColumns(definition, 't', actor, detail)}
    FROM ${ident(definition.table)} t
    WHERE t.id = ANY(${rows.map((row) => row.id)}::int[])`);
}

function fieldValues(definition: ResourceDefinition, row: Row): Representation {
  const values: Representation = {};
  for (const field of definition.fields) {
    if (field.name === 'id' || field.internal || field.writeOnly || field.hidden) continue;
    if (field.column === null || !(field.column in row)) continue;
    const value = row[field.column];
    values[field.name] =
      field.kind === 'secret' ? (value === '' || value === null ? '' : ENCRYPTED) : value;
  }
  return values;
}

function capabilitiesOf(definition: ResourceDefinition, row: Row): Representation | null {
  const words = [...capabilityWords(definition)].filter(([, asked]) => `can_${asked}` in row);
  if (words.length === 0) return null;
  return Object.fromEntries(words.map(([word, asked]) => [word, row[`can_${asked}`]]));
}

function relatedOf(
  definition: ResourceDefinition,
  row: Row,
  extension: Extension | undefined,
  namedUrl: string | undefined,
): Record<string, string> {
  const related: Record<string, string> = namedUrl ? { named_url: namedUrl } : {};
  for (const field of referencesOf(definition)) {
    const id = row[field.column!];
    const target = field.target!();
    if (id !== null && id !== undefined) related[field.name] = target.url(id);
  }
  for (const [name, path] of definition.links) related[name] = `${definition.url(row.id)}${path}/`;
  for (const [name, path] of Object.entries(extension?.related ?? {})) {
    if (path === null) delete related[name];
    else related[name] = path;
  }
  return related;
}

const referencesOf = (definition: ResourceDefinition): readonly Field[] =>
  definition.fields.filter((field) => field.target && field.column !== null && !field.internal);

interface LoadedSummary {
  key: string;
  column: string;
  byId: Map<number, Representation>;
}

async function loadSummaries(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<LoadedSummary[]> {
  const wanted = referencesOf(definition)
    .map((field) => ({
      key: field.name in definition.summaryKeys ? definition.summaryKeys[field.name] : field.name,
      column: field.column!,
      target: field.target!(),
    }))
    .filter((one): one is typeof one & { key: string } => typeof one.key === 'string');
  const idsByType = new Map<string, Set<number>>();
  for (const { column, target } of wanted) {
    const ids = idsByType.get(target.type) ?? new Set<number>();
    for (const row of rows) if (typeof row[column] === 'number') ids.add(row[column]);
    idsByType.set(target.type, ids);
  }
  const loaded = new Map<string, Map<number, Representation>>();
  for (const [type, ids] of idsByType) {
    loaded.set(type, await summariesOf(findResource(type)!, [...ids], context));
  }
  return wanted.map(({ key, column, target }) => ({
    key,
    column,
    byId: loaded.get(target.type)!,
  }));
}

/** `summary_fields` entries of objects by id, as far as the caller may read them. */
export async function summariesOf(
  target: ResourceDefinition,
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, Representation>> {
  if (ids.length === 0) return new Map();
  const columns = target.summary.map((name) => {
    const column = target.field(name)?.column ?? name;
    return sql`${ident('s', column)} AS ${ident(name)}`;
  });
  for (const [name, value] of Object.entries(target.summarise?.('s') ?? {})) {
    columns.push(sql`(${value}) AS ${ident(name)}`);
  }
  const rows = await database.rows<Row>(sql`
    SELECT ${join(columns, ', ')} FROM ${ident(target.table)} s
    WHERE ${and(
      sql`s.id = ANY(${ids}::int[])`,
      target.own('s'),
      permit(target.policy, 'read', 's', actor),
    )}`);
  return new Map(
    rows.map((row) => [
      row.id,
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
    ]),
  );
}

async function loadObjectRoles(
  definition: ResourceDefinition,
  rows: readonly Row[],
  database: Database,
): Promise<Map<number, Representation> | null> {
  if (definition.roles.length === 0) return null;
  const found = await database.rows<{ id: number; object_id: number; role_field: string }>(sql`
    SELECT id, object_id, role_field FROM roles
    WHERE content_type = ${definition.type} AND object_id = ANY(${rows.map(({ id }) => id)}::int[])
    ORDER BY id`);
  const byObject = new Map<number, Representation>();
  for (const { id, object_id, role_field } of found) {
    const all = byObject.get(object_id) ?? {};
    all[role_field] = { id, ...describeRole(definition.type, definition.label, role_field) };
    byObject.set(object_id, all);
  }
  return byObject;
}
