import { and, ident, join, raw, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { valueOf, type ColumnType } from '../fields/column-types.js';
import type { Field, FieldKind } from '../fields/field.js';
import { BadRequest } from '../errors/errors.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { idType } from '../resource/ids.js';
import { follow } from '../resource/followed-relations.js';
import { filterableField, isRelation, MAX_RELATIONS, resolvePath } from './filter-compiler.js';

export interface OrderTerm {
  expression: Sql;
  descending: boolean;
  /** Path of the field as requested, for example `organization__name`. */
  name: string;
  kind: FieldKind;
  columnType: ColumnType;
  nullable: boolean;
  /** Column of a page's rows that contains the value. */
  column: string;
}

/** Returns the ORDER BY terms. The last term is always `id`, so that pages never overlap. */
export function orderTerms(
  definition: ResourceDefinition,
  alias: string,
  names: readonly string[],
  actor: Actor,
): OrderTerm[] {
  const requested = names.length > 0 ? names : definition.orderBy;
  const terms = requested.map((text, index): OrderTerm => {
    const name = text.replace(/^-/, '');
    const field = termOf(definition, alias, name.split('__'), actor, 0);
    return { column: `order_${index}`, ...field, name, descending: text.startsWith('-') };
  });
  if (terms.at(-1)?.column !== 'id') {
    const id = termOf(definition, alias, ['id'], actor, 0);
    terms.push({ column: 'id', ...id, name: 'id', descending: false });
  }
  return terms;
}

/** Returns the values of the order that are not columns of the rows, for the cursor of the next page. */
export const orderColumns = (terms: readonly OrderTerm[]): Sql[] =>
  terms
    .filter(({ column }) => /^order_\d+$/.test(column))
    .map(({ expression, column }) => sql`${expression} AS ${ident(column)}`);

/** Returns the terms as SQL, reversed for reading a list from its end. */
export const compileOrder = (terms: readonly OrderTerm[], { reversed = false } = {}): Sql =>
  join(
    terms.map(({ expression, descending }) =>
      descending === reversed ? expression : sql`${expression} DESC`,
    ),
  );

type FoundTerm = Pick<OrderTerm, 'expression' | 'kind' | 'columnType' | 'nullable'> & {
  column?: string;
};

function termOf(
  definition: ResourceDefinition,
  alias: string,
  path: readonly string[],
  actor: Actor,
  depth: number,
): FoundTerm {
  const [name = '', ...rest] = resolvePath(definition, path);
  if (name === 'type' && rest.length === 0) return typeTerm(definition, alias);
  const field = fieldToOrderBy(definition, name, rest);
  if (field && (rest.length === 0 || (field.target && rest.length === 1 && rest[0] === 'id'))) {
    const { kind, columnType, nullable, column } = field;
    const expression = valueOf(field, alias);
    return { expression, kind, columnType, nullable, ...(column === null ? {} : { column }) };
  }
  const relation = field === null || field.target ? follow(definition, name) : undefined;
  if (!relation?.isSingle || depth >= MAX_RELATIONS) {
    throw new BadRequest(`No related model for field ${name}.`);
  }
  const target = relation.target();
  const related = `${alias}o`;
  const relatedPath = rest.length === 0 ? ['id'] : rest;
  const { expression, kind, columnType } = termOf(target, related, relatedPath, actor, depth + 1);
  const readable = permit(target.policy, 'read', related, actor);
  const { from, where } = relation.join(alias, related);
  const value = sql`(
    SELECT ${expression} FROM ${from} WHERE ${and(where, target.partCondition(related), readable)})`;
  return {
    expression: target.stored ? value : sql`NULL::${raw(columnType)}`,
    kind,
    columnType,
    // A missing or unreadable related object has no value.
    nullable: true,
  };
}

/**
 * Returns the field that the first step of a path names, or null for a relation. A field can have the
 * name of a relation: `attempts` is the number of attempts, `attempts__id` their ids.
 *
 * @throws BadRequest, Forbidden for a name that is neither
 */
function fieldToOrderBy(
  definition: ResourceDefinition,
  name: string,
  rest: readonly string[],
): Field | null {
  const isOwn = rest.length === 0 && definition.field(name)?.filter === true;
  return !isOwn && isRelation(definition, name) ? null : filterableField(definition, name);
}

/** Returns the term for the type. If all rows have one type, orders by id. */
const typeTerm = (definition: ResourceDefinition, alias: string): FoundTerm =>
  definition.variants
    ? {
        expression: ident(alias, 'type'),
        kind: 'string',
        columnType: 'text',
        nullable: false,
        column: 'type',
      }
    : {
        expression: ident(alias, 'id'),
        kind: 'integer',
        columnType: idType(definition),
        nullable: false,
        column: 'id',
      };
