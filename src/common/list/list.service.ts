import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { and, ident, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, RoleStore, type Actor } from '../access.js';
import { NotFound } from '../http/errors.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { represent, selectColumns, type Representation } from '../resource/represent.js';
import { compileOrder, FilterCompiler } from './compile.js';
import { Page, parsePage, type PageRequest } from './page.js';
import { parseListQuery, type QueryParameters } from './query.js';

export interface ListOptions {
  /** Further condition on `t`, e.g. the parent of a sub-list. */
  scope?: Sql;
  /** Whether `limit` is understood (decision 4). */
  events?: boolean;
  /** Order when none is asked for, instead of the resource's own. */
  orderBy?: readonly string[];
  /** The scope speaks of the counted column alone, so the resource's counter still answers. */
  counted?: boolean;
  /** Replaces the visibility rule; for lists whose parent decides, such as an access list. */
  visible?: Sql;
  /** Changes the rows' representation in bulk. */
  decorate?: (items: Representation[], rows: readonly Row[]) => Promise<Representation[]>;
}

/** The one list engine: visibility, filters, search, order, page (core 2). */
@Injectable()
export class ListService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly roles: RoleStore,
    private readonly moduleRef: ModuleRef,
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
    const parsed = parseListQuery(query);
    const compiler = new FilterCompiler(actor, (target, alias, role) =>
      this.roles.roleLevel(target, alias, role, actor),
    );
    const visible = and(
      options.scope ?? TRUE,
      options.visible ?? permit(definition.policy, 'read', 't', actor),
    );
    const filters = compiler.compile(definition, 't', parsed);
    const where = and(
      definition.own('t'),
      definition.hide && !query.id ? definition.hide('t') : TRUE,
      visible,
      filters,
    );
    const countable = filters === TRUE && (options.scope === undefined || options.counted === true);
    const count =
      countable && definition.counter ? keptTotal(definition, visible) : total(definition, where);
    const order = compileOrder(
      definition,
      't',
      parsed.order.length > 0 ? parsed.order : (options.orderBy ?? []),
      actor,
    );
    if (!definition.stored) return emptyPage(request);
    const page = await this.cut(definition, request, { where, order, count }, actor);
    const find = <T>(token: abstract new (...args: never[]) => T): T =>
      this.moduleRef.get<T>(token as never, { strict: false });
    const context = { database: this.database, actor, detail: false, find };
    const items = await represent(definition, page.results, context);
    const results = options.decorate ? await options.decorate(items, page.results) : items;
    return new Page(results, request, page.count, page.number, page.hasNext);
  }

  private async cut(
    definition: ResourceDefinition,
    request: PageRequest,
    { where, order, count: counting }: Cut,
    actor: Actor,
  ): Promise<Page<Row>> {
    const rows = (limit: number, offset: number): Promise<Row[]> =>
      this.database.rows<Row>(sql`
        SELECT ${selectColumns(definition, 't', actor, false)}
        FROM ${ident(definition.table)} t
        WHERE ${where} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`);
    if (request.style === 'limited') {
      return new Page(await rows(request.limit, 0), request, null, 1, false);
    }
    const { size } = request;
    const count = request.count || request.page === 'last' ? await this.count(counting) : null;
    const number =
      request.page === 'last' ? Math.max(1, Math.ceil((count ?? 0) / size)) : request.page;
    // Beyond this the product of page and size leaves the safe integers; no table is that long.
    if (number > Number.MAX_SAFE_INTEGER / (size * 2)) throw new NotFound('Invalid page.');
    const offset = (number - 1) * size;
    if (count !== null && number > 1 && offset >= count) throw new NotFound('Invalid page.');
    const found = await rows(size + 1, offset);
    if (number > 1 && found.length === 0) throw new NotFound('Invalid page.');
    const shown = found.slice(0, size);
    return new Page(shown, request, request.count ? count : null, number, found.length > size);
  }

  private async count(counting: Sql): Promise<number> {
    const row = await this.database.row<{ count: number }>(counting);
    return row?.count ?? 0;
  }
}

function emptyPage(request: PageRequest): Page<Representation> {
  if (request.style === 'limited') return new Page([], request, null, 1, false);
  if (request.page !== 'last' && request.page > 1) throw new NotFound('Invalid page.');
  return new Page([], request, request.count ? 0 : null, 1, false);
}

/** The parts of a list's statements. */
interface Cut {
  where: Sql;
  order: Sql;
  count: Sql;
}

const total = (definition: ResourceDefinition, where: Sql): Sql => sql`
  SELECT count(*)::int AS count FROM ${ident(definition.table)} t WHERE ${where}`;

/** The total from the counters of what the rows belong to; the same rule limits those. */
function keptTotal({ counter }: ResourceDefinition, visible: Sql): Sql {
  const { table, column, total: kept } = counter!;
  return sql`
    SELECT COALESCE(sum(t.total), 0)::int AS count
    FROM (SELECT id AS ${ident(column)}, ${ident(kept)} AS total FROM ${ident(table)}) t
    WHERE ${visible}`;
}
