import { and, FALSE, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { armsOf, permit, type Actor, type Policy } from '../access.js';
import type { HeldRoles } from '../held-roles.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { keptTotal, sumKept } from './kept-total.js';
import type { OrderTerm } from './order.js';
import { looksIntoTexts, type ListQuery } from './query.js';
import type { Cut } from './slice.js';

/**
 * Whoever sees at most this many rows of a long table has them looked for by what he holds. To read the
 * table in the asked order until the page is full would be to read all of it.
 */
export const FEW = 200;

/** What decides which rows of a list are shown, and in which order. */
export interface Asked {
  query: ListQuery;
  /** The filters of the query, compiled for `t`. */
  filters: Sql;
  order: readonly OrderTerm[];
  /** Further condition on `t`, e.g. the parent of a sub-list. */
  scope: Sql | undefined;
  /** The scope speaks of counted columns alone. */
  counted: boolean;
  /** Replaces the visibility rule. */
  visible: Sql | undefined;
  /** Rows that lists do not show are asked for by id. */
  isById: boolean;
  /** Nothing is asked but a first page as it comes. */
  isPlain: boolean;
}

/** How a list is read by who sees many of its rows; and by who sees few, where such are told apart. */
export interface Cuts {
  many: Cut;
  /**
   * `seen`: statement for how many rows the caller sees, whatever the filters. `cut`: by what he holds,
   * or by asking for it.
   */
  few: { cut: (held: HeldRoles | null) => Cut; seen: Sql } | null;
}

export function cutsOf(definition: ResourceDefinition, actor: Actor, asked: Asked): Cuts {
  const { query, filters, order, scope } = asked;
  const seenBy = (policy: Policy): Sql =>
    and(scope ?? TRUE, asked.visible ?? permit(policy, 'list', 't', actor));
  const own = and(definition.own('t'), kindsOf(definition));
  const limits = and(own, definition.hide && !asked.isById ? definition.hide('t') : TRUE, filters);
  const visible = seenBy(definition.policy);
  const { counter } = definition;
  const counted = counter?.rule ? seenBy({ read: counter.rule }) : visible;
  const isWhole = scope === undefined || asked.counted;
  const kept = isWhole ? keptTotal(definition, query, and(limits, counted)) : null;
  const shown = and(limits, visible);
  // Where there is nothing to be found, a long table would be read to its end.
  const isAny = kept && visible !== TRUE ? sql`(${kept}) > 0` : TRUE;
  const parts: Omit<Cut, 'where'> = {
    order,
    count: kept ?? total(definition, shown),
    isKept: kept !== null,
    isStable: asked.isPlain && filters === TRUE && scope === undefined,
    isFenced: looksIntoTexts(query),
    isFoundOnce: looksIntoTexts(query) && kept === null,
  };
  if (!counter || visible === TRUE || scope || asked.visible) {
    return { many: { ...parts, where: and(shown, isAny) }, few: null };
  }
  const seen = sumKept(counter, and(own, counted));
  const cut = (held: HeldRoles | null): Cut => {
    const where = and(limits, isSeen(definition, held ? { ...actor, held } : actor));
    return {
      ...parts,
      where,
      count: total(definition, where),
      isKept: false,
      isStable: false,
      isFoundOnce: true,
    };
  };
  return {
    many: { ...parts, where: and(shown, filters === TRUE ? TRUE : isAny, sql`(${seen}) > ${FEW}`) },
    few: { cut, seen },
  };
}

/** A list of several kinds shows these alone, whatever else shares their table. */
const kindsOf = ({ variants }: ResourceDefinition): Sql =>
  variants
    ? sql`t.type = ANY(${variants().map(({ discriminator }) => discriminator)}::text[])`
    : TRUE;

/** The caller sees the row: each arm of the rule is asked for itself, by the index that it has. */
function isSeen({ policy, table, own }: ResourceDefinition, actor: Actor): Sql {
  const arms = armsOf(policy.list ?? policy.read)
    .map((arm) => and(own('x'), arm('x', actor)))
    .filter((condition) => condition !== FALSE)
    .map((condition) => sql`SELECT x.id FROM ${ident(table)} x WHERE ${condition}`);
  return arms.length === 0 ? FALSE : sql`t.id = ANY(ARRAY(${join(arms, ' UNION ALL ')}))`;
}

const total = (definition: ResourceDefinition, where: Sql): Sql => sql`
  SELECT count(*)::int AS count FROM ${ident(definition.table)} t WHERE ${where}`;
