import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../../common/http/request.js';
import { RouteTable, type TableRoute } from '../../common/rest/route-table.service.js';
import { isRecord } from '../../common/records.js';
import { isStarred, remember } from './bookmarks.js';
import { breadcrumbs } from './breadcrumbs.js';
import { resumedForm, submissionOf } from './browser-form.js';
import { directoryView, detailView } from './detail-view.js';
import { filterPanel } from './filters.js';
import { asksForSomething, type Entered } from './forms.service.js';
import { heading, type Star } from './heading.js';
import { html, type Html, type HtmlValue } from './html.js';
import { page } from './layout.js';
import { listView } from './list-view.js';
import { noticeView, RESUMED } from './notices.js';
import { openPage } from './page-context.js';
import { PagePanels } from './page-panels.service.js';
import { PagePlace } from './page-place.service.js';
import { PageSections, type FilledPage, type UsableRoute } from './page-sections.service.js';
import { leadsBy } from './related.js';
import { responseView } from './response-view.js';
import { valueView, type Item } from './values.js';

/** A response of the API to render as a page. */
export interface Shown {
  status: number;
  /** Body after JSON serialization: dates are text. */
  body: unknown;
  /** A rejected or previewed form to show again. */
  refused?: Entered;
  /** Message above the response, such as the explanation of an error. */
  message?: HtmlValue;
}

interface View extends Shown, FilledPage {
  refused?: Entered;
  /** Values that a form of the page sent. */
  sent: Readonly<Record<string, unknown>>;
  route: TableRoute | undefined;
  response: Response;
}

/** Renders the page of a URL from the declaration of its route and its JSON response. */
@Injectable()
export class PageRenderer {
  constructor(
    private readonly table: RouteTable,
    private readonly panels: PagePanels,
    private readonly sections: PageSections,
    private readonly place: PagePlace,
  ) {}

  async render(request: ApiRequest, response: Response, shown: Shown): Promise<string> {
    const context = openPage(request, response);
    const entry = this.table.match(request.path);
    const submission = submissionOf(request);
    const view: View = {
      ...shown,
      resumed: resumedForm(request),
      sent: submission?.values ?? {},
      context,
      entry,
      route: entry?.routes.get(request.method === 'HEAD' ? 'GET' : request.method),
      actor: context.actor,
      response,
    };
    const { path } = context;
    const place = await this.place.of({ ...view, path, target: request.target });
    const { title, of } = place;
    const star = starOf(request, response, view);
    const usable = await this.sections.usable(view);
    const forms = await this.sections.sections(view, usable, title);
    // A form that is shown again already shows its errors.
    const formTells = shown.refused !== undefined && shown.status === 400 && forms.length > 0;
    const answer = responseView(context, response, view, {
      open: this.jsonIsOpen(view, usable),
      leads: leadsBy(this.table),
    });
    // Forms come before the response, except after a form was sent.
    const answersLast = shown.refused !== undefined || context.method === 'GET';
    return page({
      context,
      title: of === null ? title : `${title} – ${of}`,
      content: html` ${breadcrumbs(this.table, { path, ...place })}
      ${heading({
        context,
        title,
        of,
        state: stateOf(view),
        route: view.route,
        usable: view.status >= 400 ? [] : usable,
        star,
      })}
      ${noticeView(context)} ${view.resumed && RESUMED} ${formTells ? null : view.message}
      ${await this.main(view, usable)}
      ${answersLast ? [forms, submission?.isLook ? null : answer] : [answer, forms]}`,
    });
  }

  /**
   * Renders the main part of the page by the type of the response: rows, an object, or a directory.
   */
  private async main(view: View, usable: readonly UsableRoute[]): Promise<HtmlValue> {
    const { context, body, route, actor } = view;
    const definition = route?.info?.resource;
    const filters = filtersOf(view);
    if (view.status === 400) return filters;
    if (view.status >= 400 || !isRecord(body)) return null;
    const isObject = context.method === 'GET' && definition && typeof body.id === 'number';
    const type = typeof body.type === 'string' ? body.type : definition?.type;
    const panels = await this.panelsFor(isObject ? type : route?.info?.operationId, body, view);
    if (context.method !== 'GET') return panels;
    if (Array.isArray(body.results)) {
      return html`${panels} ${filters} ${await this.rowsOf(view, body, usable)}`;
    }
    if (isObject && actor) {
      return html`${panels} ${await this.sections.beside(body, view, actor)}
      ${detailView(body, definition, { table: this.table, origin: context.origin })}`;
    }
    return html`${panels} ${directoryView(body)}`;
  }

  /** Renders the rows of a list, by the panels of their type if there are any. */
  private async rowsOf(view: View, body: Item, usable: readonly UsableRoute[]): Promise<Html> {
    const { context, route } = view;
    const definition = route?.info?.resource;
    const removable = usable.some(({ info, open }) => info.attach === true && open.attach);
    const isMade = usable.some(({ method, info }) => method === 'POST' && info.kind !== 'action');
    const rows = await this.panelsFor(definition && `${definition.type}_rows`, body, view);
    const showsRows = rows.length === 0 && !this.panels.showRows(route?.info?.operationId);
    return html`${rows} ${listView({ context, definition, body, isMade, removable, showsRows })}`;
  }

  private async panelsFor(
    key: string | undefined,
    object: Item,
    { actor, context: { csrf, path, origin, presets, query, refusal }, sent }: View,
  ): Promise<Html[]> {
    if (!actor || key === undefined) return [];
    return this.panels.render(key, {
      object,
      actor,
      csrf,
      path,
      origin,
      presets,
      query,
      refusal,
      sent,
    });
  }

  /**
   * Returns false if other parts of the page show the values, because secrets must not be shown
   * twice.
   */
  private jsonIsOpen(
    { body, status, context, route }: View,
    usable: readonly UsableRoute[],
  ): boolean {
    if (status >= 400 || context.method !== 'GET') return true;
    if (route?.info?.kind === 'retrieve' || usable.some(asksForSomething)) return false;
    if (this.panels.has(route?.info?.operationId ?? '')) return false;
    return !isRecord(body) || (!Array.isArray(body.results) && directoryView(body) === null);
  }
}

/**
 * Returns the star button of the object on the page, and adds the object to the recently viewed
 * objects.
 */
function starOf(
  request: ApiRequest,
  response: Response,
  { actor, body, status, route, context }: View,
): Star | null {
  const isObject = context.method === 'GET' && status < 400 && route?.info?.kind === 'retrieve';
  if (!actor || !isObject || !isRecord(body)) return null;
  const { type, id } = body;
  if (typeof type !== 'string' || typeof id !== 'number') return null;
  const mark = { type, id };
  remember(request, response, actor.id, mark);
  return { value: `${actor.id}.${type}-${id}`, isSet: isStarred(request, actor.id, mark) };
}

/** Renders the status of the object on the page; returns null without a status. */
function stateOf({ context, body, status, route }: View): Html | null {
  const isObject = context.method === 'GET' && status < 400 && route?.info?.kind === 'retrieve';
  if (!isObject || !isRecord(body) || typeof body.status !== 'string') return null;
  return body.status === '' ? null : valueView('status', body, route.info?.resource);
}

/**
 * Renders the filters of a list, also after an invalid filter, so that the user can remove the
 * filter.
 */
const filtersOf = ({ context, route }: View): HtmlValue =>
  context.method === 'GET' &&
  route?.info?.kind === 'list' &&
  route.info.resource &&
  filterPanel(context, route.info.resource);
