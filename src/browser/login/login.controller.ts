import {
  Controller,
  createParamDecorator,
  Get,
  Post,
  Req,
  Res,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setPageHeaders } from '../shared/layout.js';
import { loginPage, resumePage, type LoginForm } from '../shared/login-page.js';
import { openPage } from '../shared/page-context.js';
import { readPending } from '../shared/pending-form.js';
import { clearSessionCookie, sessionOf, type Cookies } from '../../common/http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../../common/http/csrf.js';
import { NotAcceptable, Unauthenticated } from '../../common/errors/errors.js';
import type { ApiRequest } from '../../common/http/request.js';
import { Route } from '../../common/rest/route.js';
import { SecurityEvents } from '../../common/rest/security-events.service.js';
import { acceptsHtml, weightOf } from '../../common/http/negotiation.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { AuthenticationService } from '../../auth/authentication.service.js';
import { nextPath, SessionsService } from '../../auth/sessions.service.js';
import { AuthenticatorsRepository } from '../../identity/authenticators.repository.js';

/** Session cookie of the request. */
const SessionCookie = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  sessionOf(context.switchToHttp().getRequest<Cookies>()),
);

const HTML_ANSWER = { type: 'string' };

/** Login and logout of browsers (docs/contract/access.md#sessions). */
@ApiTags('login')
@Controller('api')
export class LoginController {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly sessions: SessionsService,
    private readonly events: SecurityEvents,
    private readonly authenticators: AuthenticatorsRepository,
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
    const accept = request.headers.accept || '*/*';
    if (!acceptsHtml(request) && weightOf(accept, 'text', 'html') === 0) throw new NotAcceptable();
    await this.show(request, response, { next: nextPath(request.query.next ?? '/') });
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
    const { username, password } = request.body;
    assertCsrf(request, request.headers['x-csrftoken'] ?? request.body[CSRF_FIELD]);
    assertSameSite(request);
    const next = nextPath(request.body.next);
    const pending = readPending(request.body.pending);
    try {
      const actor = await this.authentication.byPassword(
        textOf(username),
        textOf(password),
        request.ip ?? '',
      );
      const csrf = await this.sessions.open(request, response, actor.id);
      if (pending) {
        const page = { ...openPage(request, response), actor, csrf };
        setPageHeaders(response);
        response.send(resumePage(page, { next, pending }));
      } else response.redirect(302, next);
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      this.events.refused(error, request);
      response.status(401);
      const text = 'Please enter a correct username and password.';
      await this.show(request, response, { next, error: text, pending });
    }
  }

  /** Accepts POST only: a link on another site must not log a user out. */
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
    @SessionCookie() session: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    if (session) await this.sessions.end(session);
    clearSessionCookie(response);
    response.redirect(302, '/api/login/');
  }

  private async show(request: ApiRequest, response: Response, form: LoginForm): Promise<void> {
    const { CUSTOM_LOGIN_INFO: notice } = await this.runtime.get('CUSTOM_LOGIN_INFO');
    setPageHeaders(response);
    const options = await this.authenticators.enabled();
    response.send(loginPage(openPage(request, response), { ...form, notice, options }));
  }
}

/** Returns the text of a value; '' for other JSON values, which match no user name. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
