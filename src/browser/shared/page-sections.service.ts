import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { isRecord } from '../../common/records.js';
import { OptionsService } from '../../common/rest/options.service.js';
import type { OpenParts, RouteInfo } from '../../common/rest/route.js';
import {
  RouteTable,
  type TableEntry,
  type TableRoute,
} from '../../common/rest/route-table.service.js';
import { hasFields, isUpdate, deleteSection, Forms, type FormInput } from './forms.service.js';
import { FormLists } from './form-lists.service.js';
import { html, type Html, type HtmlValue } from './html.js';
import { capabilityOf, isActiveRun } from './list-actions.service.js';
import { resumedFor } from './notices.js';
import type { PageContext } from './page-context.js';
import { PageForms, type FormPlan } from './page-forms.service.js';
import { Panels } from './panels.service.js';
import type { PendingForm } from './pending-form.js';
import { relatedActions } from './related.js';
import { objectPathOf, tabList, tabsOf, type Tab } from './tabs.js';
import type { Item } from './value-views.js';

/** The parts of a page that determine its forms. */
export interface FilledPage {
  context: PageContext;
  entry: TableEntry | undefined;
  actor: Actor | null;
  status: number;
  body: unknown;
  refused?: FormInput | undefined;
  resumed: PendingForm | undefined;
}

/** A route that writes, and the parts of the route that the caller may use. */
export interface UsableRoute extends TableRoute {
  info: RouteInfo;
  open: OpenParts;
  plan: FormPlan | null;
}

/** Parameters for a form on the page of another object. */
interface EmbeddedForm extends Pick<PageContext, 'csrf' | 'initialValues' | 'query'> {
  actor: Actor;
  returnTo: string;
  /** True to expand the form. */
  isOpen: boolean;
}

/** Methods with forms for values, in the order of the page. */
const FORM_METHODS = ['POST', 'PATCH', 'PUT'] as const;

/** Finds the forms of a page: the forms of its URL, and the actions on its object. */
@Injectable()
export class PageSections {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
    private readonly forms: Forms,
    private readonly plans: PageForms,
    private readonly panels: Panels,
    private readonly lists: FormLists,
  ) {}

  /**
   * Returns the routes of the page's URL that the caller may use. Omits update routes if the page does not
   * show the object, and the deletion of a run that has not ended.
   */
  async usable(page: FilledPage): Promise<UsableRoute[]> {
    const { entry, actor, context } = page;
    if (!actor || !entry) return [];
    const usable: UsableRoute[] = [];
    for (const method of [...FORM_METHODS, 'DELETE'] as const) {
      const route = entry.routes.get(method);
      if (route?.info?.access !== 'authenticated' || !canFill(page, route)) continue;
      const open = await this.options.openParts(route, context.path, actor);
      if (!open.body && !open.attach) continue;
      const plan = await this.plans.plan(route, open, formValues(page, route), actor);
      usable.push({ ...route, info: route.info, open, plan });
    }
    return usable;
  }

  /**
   * Returns the route whose form is the page: the route of the rejected or resumed form, or of the
   * link to the page.
   */
  formOf(
    { context, entry, status, refused, resumed }: FilledPage,
    usable: readonly UsableRoute[],
  ): UsableRoute | undefined {
    const { path, form, initialValues: values } = context;
    if (!hasFormPages(entry) || (status >= 400 && !refused)) return undefined;
    const shown = refused ? context.method : form;
    return usable.find(
      ({ method, info }) =>
        info.kind !== 'action' &&
        (method === shown ||
          resumedFor(resumed, { path, method }) !== undefined ||
          (method === 'POST' && !refused && shown === null && Object.keys(values).length > 0)),
    );
  }

  /**
   * Renders the form of `formOf`. Without that form, renders the forms that the page shows with its
   * response, such as the form of an action or of settings.
   */
  async sections(
    page: FilledPage,
    usable: readonly UsableRoute[],
    { title, form }: { title: string; form: UsableRoute | undefined },
  ): Promise<Html[]> {
    const { context, entry, actor, body, status, refused, resumed } = page;
    if (!actor || (status >= 400 && !refused)) return [];
    const inline = usable.filter(
      ({ method, info }) =>
        (refused ? method === context.method : method !== 'PUT' || !hasPatch(usable)) &&
        (info.kind === 'action' || !hasFormPages(entry)),
    );
    const routes = form ? [form] : inline;
    const object = refused ? null : objectOf(context, body);
    const sections: Html[] = [];
    for (const route of routes) {
      if (route.method === 'DELETE') sections.push(deleteSection(context, route.info, title));
      else {
        const { open, info, plan } = route;
        const key = route.method.toLowerCase();
        const target = { path: context.path, method: route.method };
        const entered = mapErrors(refused, plan) ?? resumedFor(resumed, target);
        const filled = object && (await this.filled(object, plan, actor));
        const request = { key, route, info, open, plan, context, actor, object: filled, entered };
        sections.push(await this.forms.section(request, form ? 'page' : 'inline'));
      }
    }
    return sections;
  }

  /**
   * Renders a form that changes an object on the page of another object, and returns to `returnTo`; null if
   * the caller may not change the object.
   *
   * @param key prefix of the element ids, unique on the page
   */
  async changeForm(key: string, object: Item, embedded: EmbeddedForm): Promise<Html | null> {
    const { actor, returnTo, isOpen } = embedded;
    const path = String(object.url);
    const route = this.table.match(path)?.routes.get('PATCH');
    if (!route?.info) return null;
    const open = await this.options.openParts(route, path, actor);
    if (!open.body) return null;
    const plan = await this.plans.plan(route, open, object, actor);
    return this.forms.section(
      {
        key,
        route,
        info: route.info,
        open,
        plan,
        context: { ...embedded, path },
        actor,
        object: await this.filled(object, plan, actor),
        returnTo,
      },
      isOpen ? 'open' : 'folded',
    );
  }

  /** Returns the values of an object for its form. */
  private async filled(object: Item, plan: FormPlan | null, actor: Actor): Promise<Item> {
    return {
      ...object,
      ...plan?.form.fromObject?.(object),
      ...(plan && (await this.lists.idsOf(object, plan.lists, actor))),
    };
  }

  /** Renders the tabs of the object that the page shows or is a part of. */
  async tabs({ context, entry, actor, status }: FilledPage): Promise<Html | null> {
    const object = objectPathOf(entry, context.path);
    if (!actor || object === null || status >= 400) return null;
    const tabs: Tab[] = [];
    for (const tab of tabsOf(this.table, object)) {
      const isOpen =
        tab.route.info?.needs === undefined ||
        (await this.options.openParts(tab.route, tab.path, actor)).body;
      if (isOpen) tabs.push(tab);
    }
    return tabList(tabs, object, context.path);
  }

  /**
   * Renders the actions on an object that the caller may perform and that have no page: as forms if
   * they have fields, as buttons otherwise.
   */
  async actionsOf(
    object: Item,
    { context, resumed }: Pick<FilledPage, 'context' | 'resumed'>,
    actor: Actor,
  ): Promise<{ buttons: HtmlValue; forms: HtmlValue }> {
    const buttons: Html[] = [];
    const forms: Html[] = [];
    for (const { path, route, info } of relatedActions(this.table, object)) {
      const key = path.split('/').filter(Boolean).at(-1) ?? '';
      if (this.panels.covers(String(object.type), key)) continue;
      const open = await this.options.openParts(route, path, actor);
      if (!open.body) continue;
      const formContext = { ...context, path };
      const entered = resumedFor(resumed, { path, method: 'POST' });
      const request = { key, route, info, open, plan: null, context: formContext, actor, entered };
      const list = hasFields({ info, open }) ? forms : buttons;
      list.push(await this.forms.action({ ...request, object }));
    }
    const groupOf = (parts: readonly Html[]): HtmlValue =>
      parts.length > 0 && html`<div class="beside">${parts}</div>`;
    return { buttons: groupOf(buttons), forms: groupOf(forms) };
  }
}

/** Returns true for lists and objects, whose forms have their own pages. */
export function hasFormPages(entry: TableEntry | undefined): boolean {
  const kind = entry?.routes.get('GET')?.info?.kind;
  return kind === 'list' || (kind === 'retrieve' && entry?.pattern.endsWith(':id') === true);
}

/** Returns the object on the page, to fill its update forms. */
const objectOf = ({ method }: PageContext, body: unknown): Item | null =>
  method === 'GET' && isRecord(body) && !Array.isArray(body.results) ? body : null;

/** Maps errors of the sent body to the fields of the form. */
function mapErrors(refused: FormInput | undefined, plan: FormPlan | null): FormInput | undefined {
  if (!refused?.errors || !plan || refused.submission.raw !== null) return refused;
  const { submission, errors } = refused;
  return { submission, errors: plan.form.errorsIn?.(errors, submission.values) ?? errors };
}

/**
 * Returns false for a change on a page without the object, such as an OPTIONS response, and for the deletion
 * of a run that has not ended, or of another object that cannot be deleted.
 */
function canFill({ context, body, refused }: FilledPage, route: TableRoute): boolean {
  const object = objectOf(context, body);
  if (route.method === 'DELETE') {
    return object === null || (!isActiveRun(object) && capabilityOf(object, 'delete') !== false);
  }
  return !isUpdate(route) || refused !== undefined || object !== null;
}

/** Returns the initial or submitted values of a form. */
const formValues = ({ context, body, refused, resumed }: FilledPage, route: TableRoute): Item => ({
  ...(isUpdate(route) ? objectOf(context, body) : context.initialValues),
  ...resumedFor(resumed, { path: context.path, method: route.method })?.submission.values,
  ...refused?.submission.values,
});

const hasPatch = (routes: readonly TableRoute[]): boolean =>
  routes.some(({ method }) => method === 'PATCH');
