import { Controller, Get, Headers, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setPageHeaders } from '../common/pages/layout.js';
import { loginPage, resumePage, type LoginForm } from '../common/pages/login-page.js';
import { openPage } from '../common/pages/page-context.js';
import { readPending } from '../common/pages/pending-form.js';
import {
  cookiesOf,
  CSRF_COOKIE,
  SESSION_COOKIE,
  setSessionCookie,
} from '../common/http/cookies.js';
import { assertCsrf, assertSameSite } from '../common/http/csrf.js';
import { NotAcceptable, Unauthenticated } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { SecurityEvents } from '../common/rest/security-events.js';
import { acceptsHtml } from '../common/http/negotiation.js';
import { Settings } from '../config/settings.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { AuthenticationService } from './authentication.service.js';
import { SessionsService } from './sessions.service.js';

const HTML_ANSWER = { type: 'string' };

/** Browser login and logout (docs/contract/access.md#sessions). */
@ApiTags('login')
@Controller('api')
export class LoginController {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly sessions: SessionsService,
    private readonly events: SecurityEvents,
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
  ) {}

  @Route({
    kind: 'document',
    access: 'public',
    operationId: 'login_form',
    summary: 'Login form.',
    produces: 'text/html',
    response: HTML_ANSWER,
  })
  @Get('login')
  async form(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    if (!acceptsHtml(request) && request.headers.accept?.includes('application/json')) {
      throw new NotAcceptable();
    }
    await this.show(request, response, { next: nextOf(request.query.next) });
  }

  @Route({
    kind: 'action',
    access: 'public',
    operationId: 'login',
    summary: 'Start a browser session.',
    status: 302,
    produces: 'text/html',
    response: HTML_ANSWER,
  })
  @Post('login')
  async login(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const { username, password, csrfmiddlewaretoken } = request.body;
    const sent = request.headers['x-csrftoken'] ?? csrfmiddlewaretoken;
    assertCsrf(cookiesOf(request.headers.cookie)[CSRF_COOKIE], String(sent ?? ''));
    assertSameSite(request.headers);
    const next = nextOf(request.body.next);
    const pending = readPending(request.body.pending);
    try {
      const actor = await this.authentication.byPassword(
        String(username ?? ''),
        String(password ?? ''),
        request.ip ?? '',
      );
      const cookie = await this.sessions.start(actor.id);
      setSessionCookie(request, response, cookie, this.settings.SESSION_COOKIE_AGE);
      response.setHeader('X-API-Session-Cookie-Name', SESSION_COOKIE);
      if (pending) {
        setPageHeaders(response);
        response.send(resumePage({ ...openPage(request, response), actor }, { next, pending }));
      } else response.redirect(302, next);
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      this.events.refused(error, request);
      response.status(401);
      const text = 'Please enter a correct username and password.';
      await this.show(request, response, { next, error: text, pending });
    }
  }

  /** POST only: a link on another site must not end somebody's session. */
  @Route({
    kind: 'action',
    access: 'public',
    operationId: 'logout',
    summary: 'End the browser session.',
    status: 302,
    produces: 'text/html',
    response: HTML_ANSWER,
  })
  @Post('logout')
  async logout(
    @Headers('cookie') cookie: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const session = cookiesOf(cookie)[SESSION_COOKIE];
    if (session) await this.sessions.end(session);
    response.clearCookie(SESSION_COOKIE, { path: '/' });
    response.redirect(302, '/api/login/');
  }

  private async show(request: ApiRequest, response: Response, form: LoginForm): Promise<void> {
    const { CUSTOM_LOGIN_INFO: notice } = await this.runtime.get('CUSTOM_LOGIN_INFO');
    setPageHeaders(response);
    response.send(loginPage(openPage(request, response), { ...form, notice }));
  }
}

/** Only a path of our own: an address given from outside must not lead elsewhere after login. */
function nextOf(value: unknown): string {
  return typeof value === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(value) ? value : '/api/v2/';
}
