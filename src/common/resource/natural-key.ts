import { and, FALSE, ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { columnOf, targetOf, type Field } from '../fields/field.js';
import { isStorable } from '../fields/text.js';
import { NotFound } from '../errors/errors.js';
import { fieldOf, type ResourceDefinition, type Row } from './define-resource.js';
import type { RepresentContext } from './extension.js';
import { idList } from './ids.js';

/** Separator between an object and its parents. */
const NODE = '++';
/** Separator between several fields of one object. */
const FIELD = '+';
const ESCAPED_PLUS = '[+]';
/** Maximum length of a key: three names of maximum length that consist of plus signs. */
const MAX_LENGTH = 8192;

type Parts = readonly (readonly string[])[];

const fieldsOfKey = (definition: ResourceDefinition): Field[] =>
  definition.naturalKey.map((name) => fieldOf(definition, name));
const ownFields = (definition: ResourceDefinition): Field[] =>
  fieldsOfKey(definition).filter(({ target }) => !target);
const parentFields = (definition: ResourceDefinition): Field[] =>
  fieldsOfKey(definition).filter(({ target }) => target);

/**
 * Returns the id of the object with a natural key. Unreadable objects and unreadable parents are treated
 * as missing, because a confirmed name reveals more than a confirmed id.
 *
 * @throws NotFound unless exactly one readable object has the key
 */
export async function idByName(
  definition: ResourceDefinition,
  key: string,
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<number> {
  const found = await database.rows<{ id: number }>(idsByName(definition, key, actor));
  const [only, ...others] = found;
  if (only && others.length === 0) return only.id;
  // Names are unique within an organization, but not among objects without one.
  throw new NotFound(
    found.length === 0 ? undefined : 'Several objects have this name: use the id.',
  );
}

/**
 * Returns the query for the ids of readable objects with a natural key: at most two, to detect ambiguity.
 */
const idsByName = (definition: ResourceDefinition, key: string, actor: Actor): Sql => sql`
  SELECT t.id FROM ${ident(definition.table)} t
  WHERE ${and(
    naturalKeyCondition(definition, key, actor),
    definition.partCondition('t'),
    permit(definition.policy, 'read', 't', actor),
  )} LIMIT 2`;

/**
 * Returns the SQL condition for rows with a natural key, as in `/teams/Ops++Default/`: the name of the
 * object, followed by the names of its parents, in the order that the resource declares
 * (docs/contract/conventions.md#named-urls). An empty name means no parent; a plus in a name is written
 * `[+]`.
 */
function naturalKeyCondition(definition: ResourceDefinition, text: string, actor: Actor): Sql {
  if (definition.naturalKey.length === 0 || text.length > MAX_LENGTH || !isStorable(text)) {
    return FALSE;
  }
  const nodes = parseKey(text);
  const condition = consume(definition, 't', nodes, actor);
  return nodes.length === 0 ? condition : FALSE;
}

/** Parses a key: `a[+]b+ssh++Default` is `[['a+b', 'ssh'], ['Default']]`. */
function parseKey(text: string): string[][] {
  let node = [''];
  const nodes = [node];
  for (const token of text.match(/\[\+\]|\+\+|\+|\[|[^[+]+/g) ?? []) {
    if (token === NODE) nodes.push((node = ['']));
    else if (token === FIELD) node.push('');
    else node[node.length - 1] += token === ESCAPED_PLUS ? '+' : token;
  }
  return nodes;
}

/**
 * Builds the condition of one object and its parents. Unreadable parents never match: a match would
 * confirm their names.
 */
function consume(
  definition: ResourceDefinition,
  alias: string,
  nodes: string[][],
  actor: Actor,
): Sql {
  const names = nodes.shift() ?? [];
  const fields = ownFields(definition);
  if (names.length !== fields.length) return FALSE;
  return and(
    ...fields.map((field, index) => sql`${ident(alias, columnOf(field))} = ${names[index]}`),
    ...parentFields(definition).map((field) => {
      const column = ident(alias, columnOf(field));
      if ((nodes[0] ?? []).join('') === '') {
        nodes.shift();
        return sql`${column} IS NULL`;
      }
      const target = targetOf(field);
      const parentAlias = `${alias}k`;
      return sql`${column} IN (
        SELECT ${ident(parentAlias, 'id')} FROM ${ident(target.table)} ${ident(parentAlias)}
        WHERE ${and(
          target.partCondition(parentAlias),
          permit(target.policy, 'read', parentAlias, actor),
          consume(target, parentAlias, nodes, actor),
        )})`;
    }),
  );
}

/**
 * Returns the paths of rows by their natural keys. Omits a row if the caller cannot read a parent of the
 * row, or if the key is empty or could be mistaken for an id or a relative path.
 */
export async function namedUrls(
  definition: ResourceDefinition,
  rows: readonly Row[],
  { batch, actor }: Pick<RepresentContext, 'batch' | 'actor'>,
): Promise<Map<number, string>> {
  const urls = new Map<number, string>();
  if (definition.naturalKey.length === 0) return urls;
  const parents = parentFields(definition);
  const found =
    parents.length === 0
      ? rows.map(({ id }) => ({ id, parts: [] }))
      : await batch.rows<{ id: number; parts: Parts | null }>(sql`
          SELECT t.id, ${parentParts(parents, 't', actor)} AS parts
          FROM ${ident(definition.table)} t
          WHERE t.id = ANY(${idList(
            definition,
            rows.map(({ id }) => id),
          )})`);
  const partsById = new Map(found.map(({ id, parts }) => [id, parts]));
  for (const row of rows) {
    const parts = partsById.get(row.id);
    if (!parts) continue;
    const ownNames = ownFields(definition).map((field) => String(row[columnOf(field)]));
    const key = formatKey([ownNames, ...parts]);
    if (!/^(?:\d*|\.{1,2})$/.test(key)) urls.set(row.id, definition.url(key));
  }
  return urls;
}

const formatKey = (parts: Parts): string =>
  parts.map((names) => names.map(escapeName).join(FIELD)).join(NODE);

const escapeName = (name: string): string =>
  name.split('+').map(encodeURIComponent).join(ESCAPED_PLUS);

/**
 * Returns an SQL expression for the names of the referenced objects as a JSON array; null if an object is
 * not readable.
 */
function parentParts(fields: readonly Field[], alias: string, actor: Actor): Sql {
  const parts = fields.map((field) => {
    const target = targetOf(field);
    const parentAlias = `${alias}k`;
    const column = ident(alias, columnOf(field));
    const columns = ownFields(target).map((keyField) => ident(parentAlias, columnOf(keyField)));
    const grandparents = parentFields(target);
    return sql`CASE WHEN ${column} IS NULL THEN '[[]]'::jsonb ELSE (
      SELECT jsonb_build_array(jsonb_build_array(${join(columns)}))
        ${grandparents.length > 0 ? sql`|| ${parentParts(grandparents, parentAlias, actor)}` : sql``}
      FROM ${ident(target.table)} ${ident(parentAlias)}
      WHERE ${and(
        sql`${ident(parentAlias, 'id')} = ${column}`,
        target.partCondition(parentAlias),
        permit(target.policy, 'read', parentAlias, actor),
      )}) END`;
  });
  return join(parts, ' || ');
}

/**
 * Returns the format of a resource's natural key, `<name>++<organization.name>`, or null if it has none.
 */
export function namedUrlFormat(definition: ResourceDefinition): string | null {
  return definition.naturalKey.length === 0 ? null : formatOf(definition, '');
}

const formatOf = (definition: ResourceDefinition, prefix: string): string =>
  [
    ownFields(definition)
      .map(({ name }) => `<${prefix}${name}>`)
      .join(FIELD),
    ...parentFields(definition).map((field) => formatOf(targetOf(field), `${field.name}.`)),
  ].join(NODE);
