import { and, FALSE, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { armsOf, permit, type Actor, type Policy } from '../access.js';
import type { HeldRoles } from '../held-roles.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { storedTotal, sumTotals } from './stored-total.js';
import type { OrderTerm } from './order.js';
import { searchesTexts, type ListQuery } from './query.js';
import type { ListPlan } from './list-statements.js';

/**
 * Maximum number of visible rows for which a long table is searched by the caller's roles. Reading such a
 * table in list order until the page is full would read the whole table.
 */
export const FEW = 200;

/** Inputs that decide which rows a list shows, and in which order. */
export interface Asked {
  query: ListQuery;
  /** Filters of the query, compiled for `t`. */
  filters: Sql;
  order: readonly OrderTerm[];
  /** Additional condition on `t`, for example the parent of a sub-list. */
  scope?: Sql | undefined;
  /** True if the scope depends on counted columns only. */
  counted: boolean;
  /** Replacement for the visibility rule. */
  visible?: Sql | undefined;
  /** True if rows that lists normally hide are selected by id. */
  isById: boolean;
  /** True for a first page without any parameters. */
  isPlain: boolean;
}

/**
 * Plans for reading a list: for callers who see many of its rows, and for callers who see few, if
 * the list distinguishes them.
 */
export interface ListPlans {
  many: ListPlan;
  /**
   * `seen`: statement for the number of rows that the caller sees, regardless of filters. `planOf`: plan
   * by the caller's roles, or by querying them.
   */
  few: { planOf: (held: HeldRoles | null) => ListPlan; seen: Sql } | null;
}

export function plansOf(definition: ResourceDefinition, actor: Actor, asked: Asked): ListPlans {
  const { query, filters, order, scope } = asked;
  const seenBy = (policy: Policy): Sql =>
    and(scope ?? TRUE, asked.visible ?? permit(policy, 'list', 't', actor));
  const own = and(definition.own('t'), kindsOf(definition));
  const limits = and(own, definition.hide && !asked.isById ? definition.hide('t') : TRUE, filters);
  const visible = seenBy(definition.policy);
  const { counter } = definition;
  const counted = counter?.rule ? seenBy({ read: counter.rule }) : visible;
  const isWhole = scope === undefined || asked.counted;
  const stored = isWhole ? storedTotal(definition, query, and(limits, counted)) : null;
  const shown = and(limits, visible);
  // If no row matches, a long table would be read to its end.
  const isAny = stored && visible !== TRUE ? sql`(${stored}) > 0` : TRUE;
  const parts: Omit<ListPlan, 'where'> = {
    order,
    count: stored ?? total(definition, shown),
    isStored: stored !== null,
    isStable: asked.isPlain && filters === TRUE && scope === undefined,
    isSubquery: searchesTexts(query),
    isFoundOnce: searchesTexts(query) && stored === null,
  };
  if (!counter || visible === TRUE || scope || asked.visible) {
    return { many: { ...parts, where: and(shown, isAny) }, few: null };
  }
  const seen = sumTotals(counter, and(own, counted));
  const planOf = (held: HeldRoles | null): ListPlan => {
    const where = and(limits, isVisible(definition, held ? { ...actor, held } : actor));
    return {
      ...parts,
      where,
      count: total(definition, where),
      isStored: false,
      isStable: false,
      isFoundOnce: true,
    };
  };
  return {
    many: { ...parts, where: and(shown, filters === TRUE ? TRUE : isAny, sql`(${seen}) > ${FEW}`) },
    few: { planOf, seen },
  };
}

/** Limits a list of several types to these types, whatever else shares their table. */
const kindsOf = ({ variants }: ResourceDefinition): Sql =>
  variants
    ? sql`t.type = ANY(${variants().map(({ discriminator }) => discriminator)}::text[])`
    : TRUE;

/**
 * Returns the visibility condition with each arm of the rule as a separate query, so that each uses its
 * own index.
 */
function isVisible({ policy, table, own }: ResourceDefinition, actor: Actor): Sql {
  const arms = armsOf(policy.list ?? policy.read)
    .map((arm) => and(own('x'), arm('x', actor)))
    .filter((condition) => condition !== FALSE)
    .map((condition) => sql`SELECT x.id FROM ${ident(table)} x WHERE ${condition}`);
  return arms.length === 0 ? FALSE : sql`t.id = ANY(ARRAY(${join(arms, ' UNION ALL ')}))`;
}

const total = (definition: ResourceDefinition, where: Sql): Sql => sql`
  SELECT count(*)::int AS count FROM ${ident(definition.table)} t WHERE ${where}`;
