import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Database } from '../../database/database.js';
import type { Actor } from '../access.js';
import { OptionsService } from '../rest/options.service.js';
import type { ApiRequest } from '../http/request.js';
import type { OpenParts } from '../rest/route.js';
import { RouteTable, type TableEntry, type TableRoute } from '../rest/route-table.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { summariesOf } from '../resource/represent.js';
import { breadcrumbs, decoded } from './breadcrumbs.js';
import { directoryView, detailView } from './detail-view.js';
import { filterPanel } from './filters.js';
import { deleteSection, Forms, type Refusal } from './forms.js';
import { heading } from './heading.js';
import { html, words, type Html, type HtmlValue } from './html.js';
import { page } from './layout.js';
import { listView } from './list-view.js';
import { openPage, type PageContext } from './page-context.js';
import { PagePanels } from './panels.js';
import { responseView } from './response-view.js';
import { isItem, titleOf, type Item } from './values.js';

/** An answer of the API that is to be shown as a page. */
export interface Shown {
  status: number;
  /** After JSON: dates are text. */
  body: unknown;
  /** A form of the page that was refused, shown again with its messages. */
  refused?: Refusal;
  /** Set above the answer, such as the explanation of a refusal. */
  message?: HtmlValue;
}

interface View extends Shown {
  context: PageContext;
  entry: TableEntry | undefined;
  route: TableRoute | undefined;
  actor: Actor | null;
  response: Response;
}

/** A route that writes, with what of it is open to the caller. */
interface UsableRoute extends TableRoute {
  open: OpenParts;
}

/** Methods that a page has forms for, in the order of the page. */
const FORM_METHODS = ['POST', 'PATCH', 'PUT'] as const;

/** Draws the page of any URL from its route's declaration and the JSON of its answer. */
@Injectable()
export class PageRenderer {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
    private readonly forms: Forms,
    private readonly panels: PagePanels,
    private readonly database: Database,
  ) {}

  async render(request: ApiRequest, response: Response, shown: Shown): Promise<string> {
    const context = openPage(request, response);
    const entry = this.table.match(request.path);
    const view: View = {
      ...shown,
      context,
      entry,
      route: entry?.routes.get(request.method === 'HEAD' ? 'GET' : request.method),
      actor: context.actor,
      response,
    };
    const names = await this.namesOf(view);
    const title = this.titleOf(view, names);
    const usable = await this.usableRoutes(view);
    const forms = await this.formSections(view, usable, title);
    // A form that is shown again says itself what is wrong with what was entered.
    const formTells = shown.refused !== undefined && shown.status === 400 && forms.length > 0;
    const answer = responseView(context, response, view, { open: this.jsonIsOpen(view) });
    return page({
      context,
      title,
      content: html` ${breadcrumbs(this.table, context.path, names)}
      ${heading({
        context,
        title,
        route: view.route,
        allow: String(response.getHeader('Allow') ?? ''),
        usable: view.status >= 400 ? [] : usable,
      })}
      ${context.notice && html`<p class="message good" role="status">${context.notice}</p>`}
      ${formTells ? null : view.message} ${await this.main(view, usable)}
      ${shown.refused ? [forms, answer] : [answer, forms]}`,
    });
  }

  /** The part that depends on what the answer is: rows, an object, a directory, or nothing. */
  private async main(view: View, usable: readonly UsableRoute[]): Promise<HtmlValue> {
    const { context, body, route, actor } = view;
    if (view.status >= 400 || context.method !== 'GET' || !isItem(body)) return null;
    const definition = route?.info?.resource;
    if (Array.isArray(body.results)) {
      const removable = usable.some(({ info, open }) => info?.attach === true && open.attach);
      return html` ${definition && route?.info?.kind === 'list' && filterPanel(context, definition)}
      ${listView({ context, definition, body, removable })}`;
    }
    if (definition && typeof body.id === 'number' && actor) {
      const shownAs = typeof body.type === 'string' ? body.type : definition.type;
      const panels = { object: body, actor, csrf: context.csrf };
      return html`${await this.panels.render(shownAs, panels)}${detailView(body, definition)}`;
    }
    return directoryView(body);
  }

  private jsonIsOpen({ body, status, context }: View): boolean {
    if (status >= 400 || context.method !== 'GET') return true;
    return !isItem(body) || (!Array.isArray(body.results) && directoryView(body) === null);
  }

  private async usableRoutes({ entry, actor, context }: View): Promise<UsableRoute[]> {
    if (!actor || !entry) return [];
    const usable: UsableRoute[] = [];
    for (const method of [...FORM_METHODS, 'DELETE'] as const) {
      const route = entry.routes.get(method);
      if (route?.info?.access !== 'authenticated') continue;
      const open = await this.options.openParts(route, context.path, actor);
      if (open.body || open.attach) usable.push({ ...route, open });
    }
    return usable;
  }

  private async formSections(
    { context, actor, body, status, refused }: View,
    usable: readonly UsableRoute[],
    title: string,
  ): Promise<Html[]> {
    if (!actor || (status >= 400 && !refused)) return [];
    const wanted = refused
      ? usable.filter(({ method }) => method === context.method)
      : usable.filter(({ method }) => method !== 'PUT' || !hasPatch(usable));
    const object = !refused && isItem(body) && !Array.isArray(body.results) ? body : null;
    const sections: Html[] = [];
    for (const route of wanted) {
      if (route.method === 'DELETE') sections.push(deleteSection(context, route.info!, title));
      else {
        const { open } = route;
        const request = { route, info: route.info!, open, context, actor, object, refused };
        sections.push(await this.forms.section(request));
      }
    }
    return sections;
  }

  private titleOf(
    { route, body, context, entry }: View,
    names: ReadonlyMap<string, string>,
  ): string {
    const last = context.path.split('/').filter(Boolean).at(-1) ?? '';
    if (isItem(body) && route?.info?.kind === 'retrieve' && 'id' in body) return titleOf(body);
    const known = names.get(context.path);
    if (known) return known;
    if (last === 'v2') return 'API version 2';
    if (last === 'api') return 'API';
    const { parent } = route?.info ?? {};
    if (parent && entry?.pattern.endsWith(':id')) return `${parent.label} ${decoded(last)}`;
    return entry ? words(decoded(last)) : 'Not found';
  }

  /** What the objects in the path are called, as far as the caller may read them. */
  private async namesOf({
    entry,
    route,
    actor,
    context,
    body,
    status,
  }: View): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    const any = route ?? [...(entry?.routes.values() ?? [])][0];
    const parent = any?.info?.parent;
    const index = entry?.pattern.split('/').indexOf(':id') ?? -1;
    const segment = context.path.split('/')[index];
    if (!parent || !actor || index < 0 || !segment) return names;
    const url = `${context.path
      .split('/')
      .slice(0, index + 1)
      .join('/')}/`;
    const isObject = url === context.path && isItem(body) && status < 400 && 'id' in body;
    const name = isObject ? titleOf(body as Item) : await this.nameFor(parent, segment, actor);
    if (name) names.set(url, name);
    return names;
  }

  private async nameFor(
    definition: ResourceDefinition,
    segment: string,
    actor: Actor,
  ): Promise<string | null> {
    if (!definition.stored || !/^\d{1,9}$/.test(segment)) return decoded(segment);
    const context = { database: this.database, actor, detail: false };
    const found = (await summariesOf(definition, [Number(segment)], context)).get(Number(segment));
    return found ? titleOf({ type: definition.type, ...found }) : null;
  }
}

const hasPatch = (routes: readonly TableRoute[]): boolean =>
  routes.some(({ method }) => method === 'PATCH');
