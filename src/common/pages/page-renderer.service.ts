import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Actor } from '../access.js';
import { OptionsService } from '../rest/options.service.js';
import type { ApiRequest } from '../http/request.js';
import type { OpenParts, RouteInfo } from '../rest/route.js';
import { RouteTable, type TableEntry, type TableRoute } from '../rest/route-table.service.js';
import { isStarred, remember } from './bookmarks.js';
import { breadcrumbs } from './breadcrumbs.js';
import { directoryView, detailView } from './detail-view.js';
import { filterPanel } from './filters.js';
import { changes, deleteSection, Forms, type Entered } from './forms.service.js';
import { heading, type Star } from './heading.js';
import { html, type Html, type HtmlValue } from './html.js';
import { page } from './layout.js';
import { listView } from './list-view.js';
import { noticeView, RESUMED, resumedFor } from './notices.js';
import { openPage, type PageContext } from './page-context.js';
import { PagePlace } from './page-place.service.js';
import { PageForms, type FormPlan } from './page-forms.service.js';
import { PagePanels } from './page-panels.service.js';
import { resumedForm, submissionOf } from './browser-form.js';
import type { PendingForm } from './pending-form.js';
import { leadsBy, relatedActions } from './related.js';
import { responseView } from './response-view.js';
import type { Item } from './values.js';
import { isRecord } from '../records.js';

/** An answer of the API that is to be shown as a page. */
export interface Shown {
  status: number;
  /** After JSON: dates are text. */
  body: unknown;
  /** A form of the page that was refused or is looked at, shown again with its messages. */
  refused?: Entered;
  /** Set above the answer, such as the explanation of a refusal. */
  message?: HtmlValue;
}

interface View extends Shown {
  resumed: PendingForm | undefined;
  /** What a form of the page sent. */
  sent: Readonly<Record<string, unknown>>;
  context: PageContext;
  entry: TableEntry | undefined;
  route: TableRoute | undefined;
  actor: Actor | null;
  response: Response;
}

/** A route that writes, with what of it is open to the caller. */
interface UsableRoute extends TableRoute {
  info: RouteInfo;
  open: OpenParts;
  plan: FormPlan | null;
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
    private readonly plans: PageForms,
    private readonly panels: PagePanels,
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
    const { title } = place;
    const star = starOf(request, response, view);
    const usable = (await this.usableRoutes(view)).filter((route) => canFill(view, route));
    const forms = await this.formSections(view, usable, title);
    // A form that is shown again says itself what is wrong with what was entered.
    const formTells = shown.refused !== undefined && shown.status === 400 && forms.length > 0;
    const answer = responseView(context, response, view, {
      open: this.jsonIsOpen(view),
      leads: leadsBy(this.table),
    });
    return page({
      context,
      title,
      content: html` ${breadcrumbs(this.table, { path, ...place })}
      ${heading({
        context,
        title,
        route: view.route,
        allow: String(response.getHeader('Allow') ?? ''),
        usable: view.status >= 400 ? [] : usable,
        star,
      })}
      ${noticeView(context)} ${view.resumed && RESUMED} ${formTells ? null : view.message}
      ${await this.main(view, usable)}
      ${shown.refused ? [forms, submission?.isLook ? null : answer] : [answer, forms]}`,
    });
  }

  /** The part that depends on what the answer is: rows, an object, a directory, or nothing. */
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
      const removable = usable.some(({ info, open }) => info?.attach === true && open.attach);
      const showsRows = !this.panels.showRows(route?.info?.operationId);
      const list = listView({ context, definition, body, removable, showsRows });
      return html`${panels} ${filters} ${list}`;
    }
    if (isObject && actor) {
      return html`${panels} ${await this.actionsBeside(body, view, actor)}
      ${detailView(body, definition, { table: this.table, origin: context.origin })}`;
    }
    return html`${panels} ${directoryView(body)}`;
  }

  private async panelsFor(
    key: string | undefined,
    object: Item,
    { actor, context: { csrf, path, origin, presets, query }, sent }: View,
  ): Promise<Html[]> {
    if (!actor || key === undefined) return [];
    return this.panels.render(key, { object, actor, csrf, path, origin, presets, query, sent });
  }

  /** What can be done beside an object and has no page of its own, as far as the caller may. */
  private async actionsBeside(
    object: Item,
    { context, resumed }: View,
    actor: Actor,
  ): Promise<HtmlValue> {
    const forms: Html[] = [];
    for (const { path, route, info } of relatedActions(this.table, object)) {
      const key = path.split('/').filter(Boolean).at(-1) ?? '';
      if (this.panels.covers(String(object.type), key)) continue;
      const open = await this.options.openParts(route, path, actor);
      if (!open.body) continue;
      const there = { ...context, path };
      const entered = resumedFor(resumed, { path, method: 'POST' });
      const request = { key, route, info, open, plan: null, context: there, actor, entered };
      forms.push(await this.forms.action({ ...request, object }));
    }
    return forms.length > 0 && html`<div class="beside">${forms}</div>`;
  }

  /** What cards show is not shown a second time, least of all a secret. */
  private jsonIsOpen({ body, status, context, route }: View): boolean {
    if (status >= 400 || context.method !== 'GET') return true;
    if (this.panels.has(route?.info?.operationId ?? '')) return false;
    return !isRecord(body) || (!Array.isArray(body.results) && directoryView(body) === null);
  }

  private async usableRoutes(view: View): Promise<UsableRoute[]> {
    const { entry, actor, context } = view;
    if (!actor || !entry) return [];
    const usable: UsableRoute[] = [];
    for (const method of [...FORM_METHODS, 'DELETE'] as const) {
      const route = entry.routes.get(method);
      if (route?.info?.access !== 'authenticated') continue;
      const open = await this.options.openParts(route, context.path, actor);
      if (!open.body && !open.attach) continue;
      const plan = await this.plans.plan(route, open, knownOf(view, route));
      usable.push({ ...route, info: route.info, open, plan });
    }
    return usable;
  }

  private async formSections(
    { context, actor, body, status, refused, resumed }: View,
    usable: readonly UsableRoute[],
    title: string,
  ): Promise<Html[]> {
    if (!actor || (status >= 400 && !refused)) return [];
    const wanted = refused
      ? usable.filter(({ method }) => method === context.method)
      : usable.filter(({ method }) => method !== 'PUT' || !hasPatch(usable));
    const object = refused ? null : objectOf(context, body);
    const sections: Html[] = [];
    for (const route of wanted) {
      if (route.method === 'DELETE') sections.push(deleteSection(context, route.info, title));
      else {
        const { open, info, plan } = route;
        const key = route.method.toLowerCase();
        const here = { path: context.path, method: route.method };
        const entered = placed(refused, plan) ?? resumedFor(resumed, here);
        const filled = object && { ...object, ...plan?.fromObject(object) };
        const request = { key, route, info, open, plan, context, actor, object: filled, entered };
        sections.push(await this.forms.section(request));
      }
    }
    return sections;
  }
}

/** The star of the object that the page shows, which is kept as the latest that was looked at. */
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

/** The object that the page shows, for filling the forms that change it. */
const objectOf = ({ method }: PageContext, body: unknown): Item | null =>
  method === 'GET' && isRecord(body) && !Array.isArray(body.results) ? body : null;

/** What is wrong stands beside what people filled in, which is not always what was sent. */
function placed(refused: Entered | undefined, plan: FormPlan | null): Entered | undefined {
  if (!refused?.errors || !plan || refused.submission.raw !== null) return refused;
  const { submission, errors } = refused;
  return { submission, errors: plan.errorsIn(errors, submission.values) };
}

/** A page whose answer is not the object, such as that of OPTIONS, has nothing to fill a change from. */
const canFill = ({ context, body, refused }: View, route: TableRoute): boolean =>
  !changes(route) || refused !== undefined || objectOf(context, body) !== null;

/** What is known of a form before it is filled in, or because it was. */
const knownOf = ({ context, body, refused, resumed }: View, route: TableRoute): Item => ({
  ...(changes(route) ? objectOf(context, body) : context.presets),
  ...resumedFor(resumed, { path: context.path, method: route.method })?.submission.values,
  ...refused?.submission.values,
});

/** The filters of a list stay where one of them is refused: there it is taken away. */
const filtersOf = ({ context, route }: View): HtmlValue =>
  context.method === 'GET' &&
  route?.info?.kind === 'list' &&
  route.info.resource &&
  filterPanel(context, route.info.resource);

const hasPatch = (routes: readonly TableRoute[]): boolean =>
  routes.some(({ method }) => method === 'PATCH');
