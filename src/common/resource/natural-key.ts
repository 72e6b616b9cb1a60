import { and, FALSE, ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { columnOf, targetOf, type Field } from '../fields/field.js';
import { isStorable } from '../fields/text.js';
import { NotFound } from '../errors/errors.js';
import {
  fieldOf,
  type RepresentContext,
  type ResourceDefinition,
  type Row,
} from './define-resource.js';
import { idList } from './ids.js';

/** Between an object and the objects it belongs to. */
const NODE = '++';
/** Between several fields that name one object. */
const FIELD = '+';
const ESCAPED_PLUS = '[+]';
/** Longest key looked up: three names of the greatest length, every letter a plus. */
const MAX_LENGTH = 8192;

type Parts = readonly (readonly string[])[];

const fieldsOfKey = (definition: ResourceDefinition): Field[] =>
  definition.naturalKey.map((name) => fieldOf(definition, name));
const ownFields = (definition: ResourceDefinition): Field[] =>
  fieldsOfKey(definition).filter(({ target }) => !target);
const parentFields = (definition: ResourceDefinition): Field[] =>
  fieldsOfKey(definition).filter(({ target }) => target);

/**
 * The id of the object that goes by a natural key. Whether one exists that the caller may not read is
 * not told: a name says more than an id. No more is that of an object it belongs to.
 *
 * @throws NotFound unless exactly one readable object has that key
 */
export async function idByName(
  definition: ResourceDefinition,
  key: string,
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<number> {
  const found = await database.rows<{ id: number }>(idsByName(definition, key, actor));
  const [only, ...others] = found;
  if (only && others.length === 0) return only.id;
  // Names are unique within an organization, and not among objects that have none.
  throw new NotFound(
    found.length === 0 ? undefined : 'Several objects have this name: use the id.',
  );
}

/** Query for the ids of readable objects with a natural key: the only one there is, or two of several. */
export const idsByName = (definition: ResourceDefinition, key: string, actor: Actor): Sql => sql`
  SELECT t.id FROM ${ident(definition.table)} t
  WHERE ${and(
    naturalKeyCondition(definition, key, actor),
    definition.own('t'),
    permit(definition.policy, 'read', 't', actor),
  )} LIMIT 2`;

/**
 * Rows named by their natural key, as in `/teams/Ops++Default/`: the own name first, then those of
 * the objects it belongs to, in the order the resource declares
 * (docs/contract/conventions.md#named-urls). An empty name stands for no object; a plus inside a
 * name is written `[+]`.
 */
function naturalKeyCondition(definition: ResourceDefinition, text: string, actor: Actor): Sql {
  if (definition.naturalKey.length === 0 || text.length > MAX_LENGTH || !isStorable(text)) {
    return FALSE;
  }
  const nodes = parseKey(text);
  const condition = consume(definition, 't', nodes, actor);
  return nodes.length === 0 ? condition : FALSE;
}

/** `a[+]b+ssh++Default` is `[['a+b', 'ssh'], ['Default']]`. */
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

/** An object that the caller may not read names nothing: its name would be told by being right. */
function consume(
  definition: ResourceDefinition,
  alias: string,
  nodes: string[][],
  actor: Actor,
): Sql {
  const own = nodes.shift() ?? [];
  const fields = ownFields(definition);
  if (own.length !== fields.length) return FALSE;
  return and(
    ...fields.map((field, index) => sql`${ident(alias, columnOf(field))} = ${own[index]}`),
    ...parentFields(definition).map((field) => {
      const column = ident(alias, columnOf(field));
      if ((nodes[0] ?? []).join('') === '') {
        nodes.shift();
        return sql`${column} IS NULL`;
      }
      const target = targetOf(field);
      const far = `${alias}k`;
      return sql`${column} IN (
        SELECT ${ident(far, 'id')} FROM ${ident(target.table)} ${ident(far)}
        WHERE ${and(
          target.own(far),
          permit(target.policy, 'read', far, actor),
          consume(target, far, nodes, actor),
        )})`;
    }),
  );
}

/**
 * Paths of rows by their natural keys. A row is left out when the caller may not read what it belongs
 * to, or when its key would be taken for an id.
 */
export async function namedUrls(
  definition: ResourceDefinition,
  rows: readonly Row[],
  { together, actor }: Pick<RepresentContext, 'together' | 'actor'>,
): Promise<Map<number, string>> {
  const urls = new Map<number, string>();
  if (definition.naturalKey.length === 0) return urls;
  const parents = parentFields(definition);
  const found =
    parents.length === 0
      ? rows.map(({ id }) => ({ id, parts: [] }))
      : await together.ask<{ id: number; parts: Parts | null }>(sql`
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
    const own = ownFields(definition).map((field) => String(row[columnOf(field)]));
    const key = formatKey([own, ...parts]);
    if (!/^(?:\d*|\.{1,2})$/.test(key)) urls.set(row.id, definition.url(key));
  }
  return urls;
}

const formatKey = (parts: Parts): string =>
  parts.map((names) => names.map(escapeName).join(FIELD)).join(NODE);

const escapeName = (name: string): string =>
  name.split('+').map(encodeURIComponent).join(ESCAPED_PLUS);

/** Names of the objects some references lead to, as a JSON array; null when one is not readable. */
function parentParts(fields: readonly Field[], alias: string, actor: Actor): Sql {
  const parts = fields.map((field) => {
    const target = targetOf(field);
    const far = `${alias}k`;
    const column = ident(alias, columnOf(field));
    const own = ownFields(target).map((one) => ident(far, columnOf(one)));
    const above = parentFields(target);
    return sql`CASE WHEN ${column} IS NULL THEN '[[]]'::jsonb ELSE (
      SELECT jsonb_build_array(jsonb_build_array(${join(own, ', ')}))
        ${above.length > 0 ? sql`|| ${parentParts(above, far, actor)}` : sql``}
      FROM ${ident(target.table)} ${ident(far)}
      WHERE ${and(
        sql`${ident(far, 'id')} = ${column}`,
        target.own(far),
        permit(target.policy, 'read', far, actor),
      )}) END`;
  });
  return join(parts, ' || ');
}

/** How the natural key of a resource is written, `<name>++<organization.name>`; null without one. */
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
