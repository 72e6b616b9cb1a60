import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, mergeMap, type Observable } from 'rxjs';
import { exactJson, parseExact } from '../../common/exact-json.js';
import { isLong } from '../../common/http/long-response.js';
import { acceptsHtml } from '../../common/http/negotiation.js';
import { OptionsService } from '../../common/rest/options.service.js';
import type { ApiRequest } from '../../common/http/request.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { RouteTable, type TableRoute } from '../../common/rest/route-table.service.js';
import { submissionOf, type Submission } from './browser-form.js';
import { isWithinYamlLimit, readAhead } from '../../common/fields/variables.js';
import { FormLists } from './form-lists.service.js';
import { formBodyOf } from './form-values.js';
import { PageForms, type FormPlan } from './page-forms.service.js';
import { setPageHeaders } from './layout.js';
import { isNotice, storeNotice, type Notice, type NoticeKey } from './page-context.js';
import { PageRenderer } from './page-renderer.service.js';
import { changedValues } from './shown-values.js';
import { isRecord } from '../../common/records.js';

/**
 * Renders responses as pages for browsers (docs/contract/pages.md), and converts forms of the pages
 * to API requests. Handlers are unaware of pages. Wraps the reply interceptor, so its input is the
 * JSON of other clients.
 */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(
    private readonly table: RouteTable,
    private readonly renderer: PageRenderer,
    private readonly options: OptionsService,
    private readonly forms: PageForms,
    private readonly lists: FormLists,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    const submission = submissionOf(request);
    // An OPTIONS response is data for API clients, and a page only for the button of a page
    // (docs/contract/pages.md).
    const browsing =
      /^\/api(\/|$)/.test(request.path) &&
      acceptsHtml(request) &&
      (request.method !== 'OPTIONS' || submission !== undefined);
    if (!browsing && !submission) return next.handle();
    const route = this.table.match(request.path)?.routes.get(request.method);
    const info = route?.info;
    if (submission?.isPreview) return from(this.preview(request, response, submission));
    const lists = route && submission && (await this.replaceBody(route, submission, request));
    const handled =
      lists && Object.keys(lists).length > 0
        ? from(this.saveWith(lists, submission, { request, response, next }))
        : next.handle();
    if (!browsing) return handled;
    return handled.pipe(mergeMap((body) => this.respond(request, response, info, body)));
  }

  /**
   * Replaces the form with the request body that other clients send. Returns the lists to save
   * together with the object.
   */
  private async replaceBody(
    route: TableRoute,
    submission: Submission,
    request: ApiRequest,
  ): Promise<FormPlan['lists']> {
    const { path, actor } = request;
    if (route.info?.access !== 'authenticated') return {};
    const open = await this.options.openParts(route, path, actor);
    const plan = await this.forms.plan(route, open, submission.values, actor);
    const release = await readAhead(Object.values(submission.values).filter(isWithinYamlLimit));
    try {
      const filled = formBodyOf(submission, plan?.fields ?? open.fields ?? route.info.body ?? []);
      const body = plan && submission.raw === null ? plan.toBody(filled) : filled;
      const isChange = submission.raw === null && route.method === 'PATCH';
      request.body = isChange ? changedValues(body, submission.shown) : body;
    } finally {
      release();
    }
    return submission.raw === null && plan ? plan.lists : {};
  }

  private async saveWith(
    lists: FormPlan['lists'],
    submission: Submission,
    { request, response, next }: { request: ApiRequest; response: Response; next: CallHandler },
  ): Promise<unknown> {
    try {
      return await this.lists.saveWith(() => next.handle(), submission, lists, request.actor);
    } catch (error) {
      // The creation of the object in the header was rolled back.
      response.removeHeader('Location');
      throw error;
    }
  }

  /** Renders the form with its values and a preview of the result. */
  private async preview(
    request: ApiRequest,
    response: Response,
    submission: Submission,
  ): Promise<string> {
    const shown = { status: 200, body: undefined, refused: { submission } };
    response.status(200);
    const page = await this.renderer.render(request, response, shown);
    setPageHeaders(response);
    return page;
  }

  private async respond(
    request: ApiRequest,
    response: Response,
    info: RouteInfo | undefined,
    result: unknown,
  ): Promise<unknown> {
    const type = String(response.getHeader('Content-Type') ?? 'application/json');
    if (response.headersSent || !type.includes('json')) return result;
    const isPlain = result === undefined || isLong(result);
    const body: unknown = isPlain ? result : parseExact(exactJson(result));
    const target = submissionOf(request) ? nextPage(request, response, info, body) : null;
    if (target !== null) {
      storeNotice(response, noticeFor(request, response, info, body));
      response.status(303).setHeader('Location', target);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      return '';
    }
    if (response.statusCode === 204) return result;
    const page = await this.renderer.render(request, response, {
      status: response.statusCode,
      body,
    });
    setPageHeaders(response);
    return page;
  }
}

/** Returns the URL to redirect to after a form: its return path, the object or a list; null for none. */
function nextPage(
  request: ApiRequest,
  response: Response,
  info: RouteInfo | undefined,
  body: unknown,
): string | null {
  const { method, path } = request;
  const currentPath = path.endsWith('/') ? path : `${path}/`;
  const parentPath = currentPath.replace(/(?<=\/)[^/]+\/$/, '');
  if (method === 'OPTIONS' || info?.shownOnce) return null;
  const returnTo = submissionOf(request)?.returnTo;
  if (returnTo !== undefined) return returnTo;
  if (method === 'DELETE') return parentPath;
  if (method === 'PUT' || method === 'PATCH') {
    return isRecord(body) && typeof body.url === 'string' ? body.url : currentPath;
  }
  const location = response.getHeader('Location');
  if (typeof location === 'string') return location;
  if (body !== undefined) return null;
  return info?.kind === 'action' ? parentPath : currentPath;
}

function noticeFor(
  request: ApiRequest,
  response: Response,
  info: RouteInfo | undefined,
  body: unknown,
): Notice {
  const ignored = isRecord(body) && isRecord(body.ignored_fields) ? body.ignored_fields : {};
  const isRun = isRecord(body) && 'launch_type' in body;
  const key = isRun && info?.kind === 'action' ? 'launched' : noticeKey(request, response, info);
  return { key, ignored: Object.keys(ignored) };
}

function noticeKey(
  { method, body, path }: ApiRequest,
  response: Response,
  info: RouteInfo | undefined,
): NoticeKey {
  if (method === 'DELETE') return 'deleted';
  if (method === 'PUT' || method === 'PATCH') return 'saved';
  if (info?.kind === 'action') {
    const verb = path.split('/').filter(Boolean).at(-1) ?? '';
    return isNotice(verb) ? verb : 'done';
  }
  if (response.statusCode === 201) return 'created';
  return 'disassociate' in body ? 'removed' : 'added';
}
