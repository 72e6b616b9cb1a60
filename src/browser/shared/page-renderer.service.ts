import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../../common/http/request.js';
import { RouteTable, type TableRoute } from '../../common/rest/route-table.service.js';
import { isRecord, listOf } from '../../common/records.js';
import { isStarred, remember } from './bookmarks.js';
import { breadcrumbs } from './breadcrumbs.js';
import { resumedForm, submissionOf } from './browser-form.js';
import { apiView, detailView, directoryView } from './detail-view.js';
import { filterPanel } from './filters.js';
import { hasFields, formTitle, type FormInput } from './forms.service.js';
import { heading, type Star } from './heading.js';
import { html, type Html, type HtmlValue } from './html.js';
import { page } from './layout.js';
import { listView } from './list-view.js';
import { noticeView, RESUMED } from './notices.js';
import { openPage } from './page-context.js';
import { Panels } from './panels.service.js';
import { PageHeadings } from './page-headings.service.js';
import { PageSections, type FilledPage, type UsableRoute } from './page-sections.service.js';
import { ListActions } from './list-actions.service.js';
import { ReadableLinks } from './readable-links.service.js';
import { pageTest } from './related.js';
import { responseView } from './response-view.js';
import { WebhookCauses } from './webhook-causes.service.js';
import { valueView, type Item } from './value-views.js';

/** A response of the API to render as a page. */
interface PageResponse {
  status: number;
  /** Body after JSON serialization: dates are text. */
  body: unknown;
  /** A rejected or previewed form to show again. */
  refused?: FormInput;
  /** Message above the response, such as the explanation of an error. */
  message?: HtmlValue;
}

interface View extends PageResponse, FilledPage {
  refused?: FormInput;
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
    private readonly panels: Panels,
    private readonly sections: PageSections,
    private readonly headings: PageHeadings,
    private readonly actions: ListActions,
    private readonly causes: WebhookCauses,
    private readonly links: ReadableLinks,
  ) {}

  async render(request: ApiRequest, response: Response, shown: PageResponse): Promise<string> {
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
    const found = await this.headings.find({ ...view, path, target: request.target });
    const { title, parent } = found;
    const star = starOf(request, response, view);
    const usable = await this.sections.usable(view);
    const form = this.sections.formOf(view, usable);
    const forms = await this.sections.sections(view, usable, { title, form });
    const breadcrumb = breadcrumbs(this.table, { path, ...found });
    const object = await this.objectOn(view);
    // A form that is shown again already shows its errors.
    const formShowsErrors = shown.refused !== undefined && shown.status === 400 && forms.length > 0;
    const responsePart = responseView(context, response, view, {
      open: this.jsonIsOpen(view, usable),
      isPage: pageTest(this.table),
      object: object && this.apiOf(object, view),
    });
    const message = formShowsErrors ? null : view.message;
    const finalResponse = submission?.isPreview ? null : responsePart;
    if (form) {
      const effects = await this.effectsOf(form, view);
      const content = [message, ...forms, ...effects, shown.refused && finalResponse];
      return formPage(view, { form, content, breadcrumb, ...found });
    }
    // Forms come before the response, except after an accepted form.
    const responseIsLast = shown.refused !== undefined || context.method === 'GET';
    return page({
      context,
      title: parent === null ? title : `${title} – ${parent}`,
      content: html` ${breadcrumb}
      ${heading({
        context,
        title,
        parent,
        description: descriptionOf(view, title),
        state: stateOf(view),
        entry: view.entry,
        route: view.route,
        usable: view.status >= 400 ? [] : usable,
        star,
      })}
      ${await this.sections.tabs(view)}
      ${noticeView(context, isRecord(view.body) && view.body.failed === true)}
      ${view.resumed && RESUMED} ${message} ${await this.main(view, object, usable)}
      ${responseIsLast ? [forms, finalResponse] : [responsePart, forms]}`,
    });
  }

  /**
   * Renders the main part of the page by the type of the response: rows, an object, or a directory.
   */
  private async main(
    view: View,
    object: Item | null,
    usable: readonly UsableRoute[],
  ): Promise<HtmlValue> {
    const { context, body, route, actor } = view;
    const definition = route?.info?.resource;
    const filters = filtersOf(view);
    if (view.status === 400) return filters;
    if (view.status >= 400 || !isRecord(body)) return null;
    if (actor && object && definition) {
      const type = typeof object.type === 'string' ? object.type : definition.type;
      const { buttons, forms } = await this.sections.actionsOf(object, view, actor);
      return html`${await this.panelsFor(type, object, view, 'first')} ${buttons}
      ${detailView(object, definition)} ${await this.panelsFor(type, object, view, 'other')}
      ${forms}`;
    }
    const panels = await this.panelsFor(route?.info?.operationId, body, view);
    if (context.method !== 'GET') return panels;
    if (Array.isArray(body.results)) {
      return html`${panels} ${filters} ${await this.rowsOf(view, body, usable)}`;
    }
    const isPart = actor && view.entry?.pattern.includes(':') === true;
    const beside = isPart
      ? await this.sections.actionsOf({ url: context.path }, view, actor)
      : { buttons: null, forms: null };
    return html`${panels} ${beside.buttons} ${directoryView(body)} ${beside.forms}`;
  }

  /** Renders the panels that show the effects of a deletion. */
  private async effectsOf({ method }: UsableRoute, view: View): Promise<Html[]> {
    const { body } = view;
    const isDeletion = method === 'DELETE' && isRecord(body) && typeof body.type === 'string';
    return isDeletion ? this.panelsFor(`${String(body.type)}_delete`, body, view) : [];
  }

  /** Renders all fields and related links of the object on the page. */
  private apiOf(object: Item, { route, context }: View): HtmlValue {
    const definition = route?.info?.resource;
    return definition && apiView(object, definition, { table: this.table, origin: context.origin });
  }

  /** Returns the object that the page shows, with links only to objects that the caller may read. */
  private async objectOn(view: View): Promise<Item | null> {
    const { body, status, route, actor } = view;
    const definition = route?.info?.resource;
    if (status >= 400 || !isRecord(body) || !isObjectPage(view, body) || !definition) return null;
    const [object = body] = actor ? await this.links.filter([body], definition, actor) : [body];
    return object;
  }

  /** Renders the rows of a list, with the panels of the row type if there are any. */
  private async rowsOf(view: View, body: Item, usable: readonly UsableRoute[]): Promise<Html> {
    const { context, route, actor } = view;
    const definition = route?.info?.resource;
    const removable = usable.some(({ info, open }) => info.attach === true && open.attach);
    const canAdd = usable.some(({ method, info }) => method === 'POST' && info.kind !== 'action');
    const rows = await this.panelsFor(definition && `${definition.type}_rows`, body, view);
    const named = await this.causes.withEventNames(listOf(body.results).filter(isRecord));
    const listed = actor && definition ? await this.links.filter(named, definition, actor) : named;
    const actions = actor ? await this.actions.ofRows(listed, actor, context.csrf) : [];
    const showsRows = rows.length === 0 && !this.panels.showRows(route?.info?.operationId);
    return html`${rows}
    ${listView({ context, definition, body: { ...body, results: listed }, canAdd, removable, actions, showsRows })}`;
  }

  private async panelsFor(
    key: string | undefined,
    object: Item,
    { actor, context: { csrf, path, origin, initialValues, query, refusal }, sent }: View,
    part?: 'first' | 'other',
  ): Promise<Html[]> {
    if (!actor || key === undefined) return [];
    const shown = { object, actor, csrf, path, origin, initialValues, query, refusal, sent };
    return this.panels.render(key, shown, part);
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
    if (route?.info?.kind === 'retrieve' || usable.some(hasFields)) return false;
    if (this.panels.has(route?.info?.operationId ?? '')) return false;
    return !isRecord(body) || (!Array.isArray(body.results) && directoryView(body) === null);
  }
}

const isObjectPage = ({ context, route }: View, body: Item): boolean =>
  context.method === 'GET' && route?.info?.resource !== undefined && typeof body.id === 'number';

interface FormView {
  form: UsableRoute;
  content: HtmlValue;
  breadcrumb: Html;
  title: string;
  parent: string | null;
}

/** Renders the page of a form that creates, adds, changes or deletes an object. */
function formPage(view: View, { form, content, breadcrumb, title, parent }: FormView): string {
  const { context, resumed } = view;
  const heading = formTitle(form, form.info, form.open);
  const subject = form.method === 'POST' ? parent : title;
  const full = subject === null ? heading : `${heading} – ${subject}`;
  return page({
    context,
    title: full,
    content: html`${breadcrumb}
      <div class="heading">
        <h1>${heading}${subject !== null && html` <span class="subject">– ${subject}</span>`}</h1>
        <a class="button quiet" href="${context.path}">Cancel</a>
      </div>
      ${noticeView(context)} ${resumed && RESUMED} ${content}`,
  });
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

/** Returns the description of the object on the page; empty if the description is also the title. */
function descriptionOf(view: View, title: string): string {
  const { body, status } = view;
  if (status >= 400 || !isRecord(body) || !isObjectPage(view, body)) return '';
  const { description } = body;
  return typeof description === 'string' && description !== title ? description : '';
}

/** Renders the status of the object on the page; returns null without a status. */
function stateOf({ context, body, status, route }: View): Html | null {
  const isObject = context.method === 'GET' && status < 400 && route?.info?.kind === 'retrieve';
  if (!isObject || !isRecord(body) || typeof body.status !== 'string') return null;
  return body.status === '' ? null : valueView('status', body, route.info?.resource);
}

/**
 * Renders the filters of a list. Also renders them after an invalid filter, so that the user can
 * remove the filter.
 */
const filtersOf = ({ context, route }: View): HtmlValue =>
  context.method === 'GET' &&
  route?.info?.kind === 'list' &&
  route.info.resource &&
  filterPanel(context, route.info.resource);
