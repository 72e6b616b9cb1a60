import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { join, sql, type Sql } from '../../database/sql.js';
import { RoleStore, type Actor } from '../access.js';
import { NotFound } from '../errors/errors.js';
import { existing } from '../invariants.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { RepresentContexts } from '../resource/represent-contexts.service.js';
import { represent, selectColumns, type Representation } from '../resource/representation.js';
import { FilterCompiler } from './filter-compiler.js';
import { cursorAfter, readCursor } from './cursor.js';
import { plansOf, FEW_ROWS, type ListPlans } from './list-plans.js';
import { orderColumns, orderTerms, type OrderTerm } from './order.js';
import { Page, parsePage, type PageRequest } from './page.js';
import { isCostly, parseListQuery, type QueryParameters } from './query.js';
import { DEEP, deepRows, firstPage, firstRows, totalOf, type ListPlan } from './list-statements.js';
import { withListTimeout } from './time-limit.js';

export interface ListOptions {
  /** Additional condition on `t`, for example the parent of a sub-list. */
  scope?: Sql;
  /** True for a list of events, with `limit` and `no_truncate` (docs/contract/lists.md#limit). */
  events?: boolean;
  /** Default order of this list, in place of the resource's default order. */
  orderBy?: readonly string[];
  /** Default order that is not an order by fields; its last term must be unique. */
  order?: readonly OrderTerm[];
  /** True if the scope depends on counted columns only, so that the resource's counter still applies. */
  counted?: boolean;
  /** True if the scope may make the database read every row. */
  isCostly?: boolean;
  /** Replacement for the visibility rule, for lists whose parent decides, such as an access list. */
  visible?: Sql;
  /** Changes the representations of the rows in bulk. */
  decorate?: (items: Representation[], rows: readonly Row[]) => Promise<Representation[]>;
}

/** List whose total is requested. */
export interface CountedList {
  definition: ResourceDefinition;
  query: QueryParameters;
}

/**
 * The only implementation of lists: visibility, filters, search, order, page (docs/contract/lists.md).
 */
@Injectable()
export class ListService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly roles: RoleStore,
    private readonly contexts: RepresentContexts,
  ) {}

  async list(
    definition: ResourceDefinition,
    query: QueryParameters,
    actor: Actor,
    options: ListOptions = {},
  ): Promise<Page<Representation>> {
    const request = parsePage(
      query,
      { pageSize: this.settings.PAGE_SIZE, maxPageSize: this.settings.MAX_PAGE_SIZE },
      options.events,
    );
    const parsed = parseListQuery(query, {
      expression: definition.expression?.parameter ?? null,
      events: options.events === true,
    });
    const compiler = this.compiler(actor);
    const filters = compiler.compile(definition, 't', parsed);
    const order = orderOf(definition, parsed.order, options, actor);
    if (!definition.stored) return emptyPage(request);
    const plans = plansOf(definition, actor, {
      query: parsed,
      filters,
      order,
      scope: options.scope,
      counted: options.counted,
      visible: options.visible,
      isById: Boolean(query.id),
      isPlain:
        parsed.order.length === 0 && request.style === 'numbered' && request.sentSize === null,
    });
    const isSlow = options.isCostly || compiler.followsRelations || isCostly(parsed);
    const read = (): Promise<Page<Row>> => this.page(definition, request, plans, actor);
    const page = await (isSlow ? withListTimeout(this.database, this.settings, read) : read());
    const items = await represent(definition, page.results, this.contexts.of(actor, false));
    const results = options.decorate ? await options.decorate(items, page.results) : items;
    return new Page(results, request, page.count, page.number, page.hasNext, page.after);
  }

  /**
   * Returns the total of each of several lists, with one statement.
   *
   * @throws Unavailable if counting takes too long
   */
  async totals(lists: readonly CountedList[], actor: Actor): Promise<number[]> {
    const counts = lists.map(({ definition, query }) => {
      const parsed = parseListQuery(query);
      const filters = this.compiler(actor).compile(definition, 't', parsed);
      return sql`(${plansOf(definition, actor, { query: parsed, filters, order: [] }).many.count})`;
    });
    const row = await withListTimeout(this.database, this.settings, () =>
      this.database.row<{ totals: number[] }>(sql`SELECT ARRAY[${join(counts)}]::int[] AS totals`),
    );
    return existing(row, 'a statement without a condition returns a row').totals;
  }

  private compiler(actor: Actor): FilterCompiler {
    return new FilterCompiler(actor, (target, alias, role) =>
      this.roles.roleLevel(target, alias, role, actor),
    );
  }

  /** Returns a page of a list, with the plan for the number of rows that the caller sees. */
  private async page(
    definition: ResourceDefinition,
    request: PageRequest,
    { many, few }: ListPlans,
    actor: Actor,
  ): Promise<Page<Row>> {
    if (!few) return this.readPage(definition, request, many, actor);
    const first = isFirst(request) ? await this.readPage(definition, request, many, actor) : null;
    if (first && first.results.length > 0) return first;
    const visibleCount = await this.count(few.visibleCount);
    if (visibleCount > FEW_ROWS) return first ?? this.readPage(definition, request, many, actor);
    if (visibleCount === 0) return emptyPage(request);
    return this.readPage(definition, request, few.planOf(await this.roles.heldBy(actor)), actor);
  }

  private async readPage(
    definition: ResourceDefinition,
    request: PageRequest,
    plan: ListPlan,
    actor: Actor,
  ): Promise<Page<Row>> {
    const resourceColumns = selectColumns(definition, actor, false);
    const columns = join([resourceColumns, ...orderColumns(plan.order)]);
    if (request.style === 'limited') {
      const rows = await this.database.rows<Row>(
        firstRows(definition, columns, plan, request.limit),
      );
      return new Page(rows, request, null, 1, false);
    }
    const { size } = request;
    if (request.page === 1 && request.after === null && request.count) {
      const rows = await this.read(plan, firstPage(definition, columns, plan, size + 1));
      return pageOf(rows, request, { count: totalOf(rows), number: 1, order: plan.order });
    }
    const count = request.count || request.page === 'last' ? await this.count(plan.count) : null;
    const number =
      request.page === 'last' ? Math.max(1, Math.ceil((count ?? 0) / size)) : request.page;
    // Beyond this number the product of page and size is not a safe integer; no table is that long.
    if (number > Number.MAX_SAFE_INTEGER / (size * 2)) throw new NotFound('Invalid page.');
    const position = request.after === null ? null : readCursor(request.after, plan.order, number);
    const rows = position
      ? await this.database.rows<Row>(firstRows(definition, columns, plan, size + 1, position))
      : await this.numbered(definition, columns, plan, { number, size, count });
    const shownCount = request.count ? count : null;
    return pageOf(rows, request, { count: shownCount, number, order: plan.order });
  }

  private read({ isStable }: ListPlan, statement: Sql): Promise<Row[]> {
    const { database } = this;
    return isStable ? database.preparedRows<Row>(statement) : database.rows<Row>(statement);
  }

  /**
   * Returns the rows of a page by its number, and one more row.
   *
   * @throws NotFound after the last page
   */
  private async numbered(
    definition: ResourceDefinition,
    columns: Sql,
    plan: ListPlan,
    { number, size, count }: { number: number; size: number; count: number | null },
  ): Promise<Row[]> {
    const offset = (number - 1) * size;
    const isDeep = offset >= DEEP;
    const total = count ?? (isDeep && plan.isStored ? await this.count(plan.count) : null);
    if (total !== null && offset > 0 && offset >= total) throw new NotFound('Invalid page.');
    const statement = isDeep
      ? deepRows(definition, columns, plan, { offset, limit: size + 1, total })
      : firstRows(definition, columns, plan, size + 1, null, offset);
    const rows = await (offset > 0
      ? this.database.rows<Row>(statement)
      : this.read(plan, statement));
    if (offset > 0 && rows.length === 0) throw new NotFound('Invalid page.');
    return rows;
  }

  private async count(counting: Sql): Promise<number> {
    const row = await this.database.row<{ count: number }>(counting);
    return row?.count ?? 0;
  }
}

const isFirst = (request: PageRequest): boolean =>
  request.style === 'limited' || (request.page === 1 && request.after === null);

/** Returns the requested order, else the default order of the list, else that of the resource. */
function orderOf(
  definition: ResourceDefinition,
  requested: readonly string[],
  { order, orderBy = [] }: ListOptions,
  actor: Actor,
): readonly OrderTerm[] {
  if (requested.length === 0 && order) return order;
  return orderTerms(definition, 't', requested.length > 0 ? requested : orderBy, actor);
}

type NumberedRequest = Extract<PageRequest, { style: 'numbered' }>;

/** @param rows the rows of the page, and one more if there is a next page */
function pageOf(
  rows: readonly Row[],
  request: NumberedRequest,
  { count, number, order }: { count: number | null; number: number; order: readonly OrderTerm[] },
): Page<Row> {
  const pageRows = rows.slice(0, request.size);
  const hasNext = rows.length > request.size;
  const last = pageRows.at(-1);
  const after = hasNext && last ? cursorAfter(last, order, number + 1) : null;
  return new Page(pageRows, request, count, number, hasNext, after);
}

function emptyPage(request: PageRequest): Page<Representation> {
  if (request.style === 'limited') return new Page([], request, null, 1, false);
  if (request.page !== 'last' && request.page > 1) throw new NotFound('Invalid page.');
  return new Page([], request, request.count ? 0 : null, 1, false);
}
