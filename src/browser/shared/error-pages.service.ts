import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { nextPath } from '../../auth/sessions.service.js';
import { type ErrorResponse, ErrorViews, FORBIDDEN } from '../../common/rest/errors.filter.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import { acceptsHtml } from '../../common/http/negotiation.js';
import type { ApiRequest } from '../../common/http/request.js';
import { RouteTable } from '../../common/rest/route-table.service.js';
import { submissionOf, type Submission } from './browser-form.js';
import { messagesOf } from './form-errors.js';
import { html, type Html } from './html.js';
import { page, setPageHeaders } from './layout.js';
import { stalePage } from './login-page.js';
import { LoginPages } from './login-pages.service.js';
import { openPage, withQuery } from './page-context.js';
import { PageRenderer } from './page-renderer.service.js';
import { pendingForm, type PendingForm } from './pending-form.js';
import { storeRefusal } from './refusal.js';
import { rolesThatAllow } from './permission-hints.js';

/** Statuses of errors that the user can correct; the form is shown again. */
const CORRECTABLE = new Set([400, 403, 409]);

/** Renders error responses as pages with the error, its reason and the possible next steps. */
@Injectable()
export class ErrorPages extends ErrorViews {
  constructor(
    private readonly table: RouteTable,
    private readonly renderer: PageRenderer,
    private readonly logins: LoginPages,
  ) {
    super();
  }

  async send(request: ApiRequest, response: Response, error: ErrorResponse): Promise<boolean> {
    if (!wantsPage(request)) return false;
    const loginPath = error.status === 401 ? '/api/login/' : error.redirectTo;
    if (loginPath !== undefined && mayLogIn(request)) {
      const next = request.path + withQuery(request.query);
      response.redirect(302, `${loginPath}${withQuery({}, { next })}`);
      return true;
    }
    const submission = submissionOf(request);
    if (submission?.isStale) {
      setPageHeaders(response);
      const text = stalePage(openPage(request, response), this.pendingFor(request, submission));
      response.status(error.status).send(text);
      return true;
    }
    if (submission && error.status === 401) {
      response.status(error.status);
      await this.logins.send(request, response, this.pendingFor(request, submission));
      return true;
    }
    if (isExpiredLogin(request, error)) {
      response.status(error.status);
      const next = nextPath(request.body.next);
      await this.logins.send(request, response, { next, error: EXPIRED_LOGIN });
      return true;
    }
    const { returnTo, errorsInCard = false } = submission ?? {};
    if (errorsInCard && returnTo !== undefined && CORRECTABLE.has(error.status)) {
      const { path } = request;
      const chosen = submission?.values.id;
      storeRefusal(request, response, { returnTo, path, chosen, body: error.body });
      response.redirect(303, returnTo);
      return true;
    }
    const text = await this.errorPage(request, response, error);
    if (response.headersSent) return true;
    setPageHeaders(response);
    response.status(error.status).send(text);
    return true;
  }

  /** Returns the form of an ended session, and the path of the page that can show the form again. */
  private pendingFor(
    { method, path, query }: ApiRequest,
    submission: Submission,
  ): { next: string; pending: PendingForm | null } {
    const entry = this.table.match(path);
    const currentPath = path.endsWith('/') ? path : `${path}/`;
    const pagePath = entry?.routes.has('GET')
      ? currentPath
      : currentPath.replace(/(?<=\/)[^/]+\/$/, '');
    const info = entry?.routes.get(method)?.info;
    return {
      next: pagePath + withQuery(query),
      pending: pendingForm({ path: currentPath, method }, submission, info),
    };
  }

  private async errorPage(
    request: ApiRequest,
    response: Response,
    { status, body, formErrors }: ErrorResponse,
  ): Promise<string> {
    const message = this.message(request, response, status, body);
    // After a failure, the page must not use the database. A URL outside the API has no response to show.
    if (status >= 500 || !request.path.startsWith('/api/')) {
      return plainPage(request, response, status, message);
    }
    const submission = submissionOf(request);
    // The raw form shows the errors of the API.
    const refused =
      submission && request.actor && CORRECTABLE.has(status)
        ? {
            submission,
            errors: (submission.raw === null ? formErrors : null) ?? (body as FieldErrors),
          }
        : undefined;
    return this.renderer.render(request, response, {
      status,
      body,
      message,
      ...(refused ? { refused } : {}),
    });
  }

  private message(
    request: ApiRequest,
    response: Response,
    status: number,
    body: Record<string, unknown>,
  ): Html {
    const texts = messagesOf(body.detail ?? body.__all__);
    const info = this.table.match(request.path)?.routes.get(request.method)?.info;
    // A refusal with a text of its own has another reason, which no role removes.
    const roles = body.detail === FORBIDDEN && request.actor ? rolesThatAllow(info) : [];
    return html`<section class="message error" role="alert">
      <h2>${HEADLINES[status] ?? 'The request failed'}</h2>
      ${texts.map((text) => html`<p>${text}</p>`)}
      ${
        roles.length > 0 &&
        html`<p>The request needs one of these roles, or a superuser:</p>
          <ul>
            ${roles.map((role) => html`<li>${role}</li>`)}
          </ul>
          <p>Ask an administrator of the object or its organization to grant a role.</p>`
      }
      ${status === 401 && html`<p>The session has ended. <a href="/api/login/">Log in</a> and send the request again.</p>`}
      ${status >= 500 && html`<p>Request id: <code>${String(response.getHeader('X-API-Request-Id') ?? '')}</code></p>`}
    </section>`;
  }
}

const HEADLINES: Record<number, string> = {
  400: 'Invalid request',
  401: 'Not logged in',
  403: 'Not permitted',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict with the current state',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Not available at the moment',
};

const EXPIRED_LOGIN = 'The form has expired. Log in again.';

/** Returns true for a login form without the token of the browser, as after a restart of the browser. */
const isExpiredLogin = ({ method, path }: ApiRequest, { status, body }: ErrorResponse): boolean =>
  method === 'POST' &&
  path.startsWith('/api/login/') &&
  status === 403 &&
  String(body.detail).startsWith('CSRF Failed: CSRF ');

const wantsPage = (request: ApiRequest): boolean =>
  acceptsHtml(request) && (request.method !== 'OPTIONS' || submissionOf(request) !== undefined);

/**
 * Returns true for a GET or HEAD request without an `Authorization` header. Requests with invalid
 * credentials in this header get an error instead of the login page.
 */
const mayLogIn = (request: ApiRequest): boolean =>
  ['GET', 'HEAD'].includes(request.method) && request.headers.authorization === undefined;

/** Renders an error page without any access to the database. */
function plainPage(request: ApiRequest, response: Response, status: number, message: Html): string {
  const title = HEADLINES[status] ?? 'Error';
  return page({
    context: openPage(request, response),
    title,
    narrow: true,
    content: html`<h1>${status}</h1>
      ${message}
      <p><a href="/api/v2/">To the API</a></p>`,
  });
}
