import { ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { Field } from '../fields/field.js';
import { BadRequest } from '../http/errors.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { filterableField, MAX_DEPTH, resolveName } from './compile.js';

/** One term of ORDER BY. */
export interface OrderTerm {
  expression: Sql;
  descending: boolean;
  /** The field of the rows themselves; null where the order looks at other rows or at the type. */
  field: Field | null;
}

/** ORDER BY terms, always ended by `id` so that pages never overlap (decision 5). */
export function orderTerms(
  definition: ResourceDefinition,
  alias: string,
  names: readonly string[],
  actor: Actor,
): OrderTerm[] {
  const wanted = names.length > 0 ? names : definition.orderBy;
  const terms = wanted.map((name) => {
    const path = name.replace(/^-/, '').split('__');
    const { expression, field } = expressionOf(definition, alias, path, actor, 0);
    return { expression, field, descending: name.startsWith('-') };
  });
  const last = terms.at(-1)?.field?.name;
  if (last !== 'id') {
    const field = definition.field('id') ?? null;
    terms.push({ expression: ident(alias, 'id'), field, descending: false });
  }
  return terms;
}

/** The terms as SQL; reversed, for reading a list from its end. */
export const compileOrder = (terms: readonly OrderTerm[], { reversed = false } = {}): Sql =>
  join(
    terms.map(({ expression, descending }) =>
      descending === reversed ? expression : sql`${expression} DESC`,
    ),
    ', ',
  );

function expressionOf(
  definition: ResourceDefinition,
  alias: string,
  path: readonly string[],
  actor: Actor,
  depth: number,
): Omit<OrderTerm, 'descending'> {
  const [first = '', ...rest] = path;
  if (first === 'type' && rest.length === 0) {
    return { expression: ident(alias, definition.variants ? 'type' : 'id'), field: null };
  }
  const field = filterableField(definition, resolveName(definition, first));
  if (rest.length === 0 || (field.target && rest.length === 1 && rest[0] === 'id')) {
    return { expression: ident(alias, field.column!), field };
  }
  if (!field.target || depth >= MAX_DEPTH) {
    throw new BadRequest(`No related model for field ${first}.`);
  }
  const target = field.target();
  const far = `${alias}o`;
  const expression = sql`(
    SELECT ${expressionOf(target, far, rest, actor, depth + 1).expression}
    FROM ${ident(target.table)} ${ident(far)}
    WHERE ${ident(far, 'id')} = ${ident(alias, field.column!)}
      AND ${permit(target.policy, 'read', far, actor)})`;
  return { expression, field: null };
}
