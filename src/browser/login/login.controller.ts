import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setPageHeaders } from '../shared/layout.js';
import { codePage, resumePage } from '../shared/login-page.js';
import { LoginPages } from '../shared/login-pages.service.js';
import { openPage, originOf, withQuery } from '../shared/page-context.js';
import { readPending, type PendingForm } from '../shared/pending-form.js';
import { clearSessionCookie, sessionOf } from '../../common/http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../../common/http/csrf.js';
import * as json from '../../common/fields/json-schema.js';
import { NotAcceptable, Unauthenticated } from '../../common/errors/errors.js';
import type { ApiRequest } from '../../common/http/request.js';
import { partOfRequest } from '../../common/rest/parameters.js';
import { Route, type RouteInfo } from '../../common/rest/route.js';
import { SecurityEvents } from '../../common/rest/security-events.service.js';
import { acceptsHtml, weightOf } from '../../common/http/negotiation.js';
import { Settings } from '../../config/settings.js';
import { AuthenticationService } from '../../auth/authentication.service.js';
import { IncompleteLogins, type IncompleteLogin } from '../../auth/incomplete-logins.service.js';
import { Passkeys } from '../../auth/passkeys.service.js';
import { SecondFactors } from '../../auth/second-factors.service.js';
import { nextPath, SessionsService } from '../../auth/sessions.service.js';
import { INITIAL_PASSWORD_PATH } from './initial-password.controller.js';

/** Session cookie of the request. */
const SessionCookie = partOfRequest(sessionOf);

const CODE_PATH = '/api/login/code/';
const PAGE = {
  kind: 'document',
  access: 'public',
  produces: 'text/html',
  response: json.STRING,
} as const satisfies Partial<RouteInfo>;
/** Route of a form that redirects the browser after success. */
const FORM = { ...PAGE, kind: 'action', status: 302 } as const;

/** Login and logout of browsers (docs/contract/access.md#sessions). */
@ApiTags('login')
@Controller('api')
export class LoginController {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly sessions: SessionsService,
    private readonly incompleteLogins: IncompleteLogins,
    private readonly factors: SecondFactors,
    private readonly passkeys: Passkeys,
    private readonly events: SecurityEvents,
    private readonly pages: LoginPages,
    private readonly settings: Settings,
  ) {}

  @Route({
    ...PAGE,
    operationId: 'login_form',
    summary: 'Login form.',
  })
  @Get('login')
  async form(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const accept = request.headers.accept || '*/*';
    if (!acceptsHtml(request) && weightOf(accept, 'text', 'html') === 0) throw new NotAcceptable();
    await this.pages.send(request, response, { next: nextPath(request.query.next ?? '/') });
  }

  @Route({
    ...FORM,
    operationId: 'login',
    summary: 'Start a browser session.',
  })
  @Post('login')
  async login(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const { username, password } = request.body;
    assertCsrf(request, request.headers['x-csrftoken'] ?? request.body[CSRF_FIELD]);
    assertSameSite(request);
    const next = nextPath(request.body.next);
    const pending = readPending(request.body.pending);
    try {
      const account = await this.authentication.verifyPassword(
        textOf(username),
        textOf(password),
        request.ip ?? '',
      );
      if (!account.has_second_factor) {
        const { ADMIN_USERNAME } = this.settings;
        const isFirstAdmin = account.is_new === true && account.username === ADMIN_USERNAME;
        const target = isFirstAdmin ? INITIAL_PASSWORD_PATH + withQuery({}, { next }) : next;
        await this.complete(request, response, { account, next: target, pending });
        return;
      }
      this.incompleteLogins.begin(response, { account, next });
      if (pending) await this.showCode(request, response, { account, pending });
      else response.redirect(302, CODE_PATH);
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      this.events.recordRefusal(error, request);
      response.status(401);
      const text = 'Please enter a correct username and password.';
      await this.pages.send(request, response, { next, error: text, pending });
    }
  }

  @Route({
    ...PAGE,
    operationId: 'login_code_form',
    summary: 'Form for the second factor of a login.',
    redirects: true,
  })
  @Get('login/code')
  async codeForm(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const login = await this.incompleteLogins.find(request);
    if (login) await this.showCode(request, response, login);
    else response.redirect(302, '/api/login/');
  }

  @Route({
    ...FORM,
    operationId: 'login_code',
    summary: 'Complete a login with a code of an authenticator app, or a recovery code.',
  })
  @Post('login/code')
  async enterCode(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const { code } = request.body;
    await this.finish(request, response, ({ account }) =>
      this.factors.useCode(account, textOf(code)),
    );
  }

  @Route({
    ...FORM,
    operationId: 'login_passkey',
    summary: 'Complete a login with a passkey.',
  })
  @Post('login/passkey')
  async usePasskey(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    const { state, credential } = request.body;
    await this.finish(request, response, ({ account }) =>
      this.passkeys.use(account, originOf(request), state, credential),
    );
  }

  @Route({
    ...FORM,
    operationId: 'login_passkey_alone',
    summary: 'Log in with a passkey alone. The authenticator must verify the user.',
  })
  @Post('login/passkey/alone')
  async usePasskeyAlone(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    assertCsrf(request, request.headers['x-csrftoken'] ?? request.body[CSRF_FIELD]);
    assertSameSite(request);
    const { state, credential } = request.body;
    const next = nextPath(request.body.next);
    const pending = readPending(request.body.pending);
    try {
      const user = await this.passkeys.usePasswordless(originOf(request), state, credential);
      const account = await this.authentication.accountWithoutPassword(user);
      await this.complete(request, response, { account, next, pending });
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      this.events.recordRefusal(error, request);
      response.status(401);
      await this.pages.send(request, response, { next, error: error.message, pending });
    }
  }

  /** Completes an incomplete login if `use` accepts the second factor. */
  private async finish(
    request: ApiRequest,
    response: Response,
    use: (login: IncompleteLogin) => Promise<void>,
  ): Promise<void> {
    assertCsrf(request, request.headers['x-csrftoken'] ?? request.body[CSRF_FIELD]);
    assertSameSite(request);
    const pending = readPending(request.body.pending);
    const login = await this.incompleteLogins.find(request);
    if (!login) {
      response.status(401);
      const error = 'The login took too long. Log in again.';
      await this.pages.send(request, response, {
        next: nextPath(request.body.next),
        error,
        pending,
      });
      return;
    }
    try {
      await use(login);
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      this.events.recordRefusal(error, request);
      response.status(401);
      await this.showCode(request, response, { ...login, error: error.message, pending });
      return;
    }
    this.incompleteLogins.end(response);
    await this.complete(request, response, { ...login, pending });
  }

  /** Accepts POST only: a link on another site must not log a user out. */
  @Route({
    ...FORM,
    operationId: 'logout',
    summary: 'End the browser session.',
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

  private async complete(
    request: ApiRequest,
    response: Response,
    { account, next, pending }: IncompleteLogin & { pending: PendingForm | null },
  ): Promise<void> {
    const actor = await this.authentication.logIn(account);
    const csrf = await this.sessions.open(request, response, account);
    if (!pending) {
      response.redirect(302, next);
      return;
    }
    const page = { ...openPage(request, response), actor, csrf };
    setPageHeaders(response);
    response.send(resumePage(page, { next, pending }));
  }

  private async showCode(
    request: ApiRequest,
    response: Response,
    { account, ...form }: Pick<IncompleteLogin, 'account'> & Parameters<typeof codePage>[1],
  ): Promise<void> {
    const passkey = await this.passkeys.beginUse(account.id, originOf(request));
    setPageHeaders(response);
    response.send(codePage(openPage(request, response), { ...form, passkey }));
  }
}

/** Returns a string or number as text; '' for other JSON values, which no login accepts. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
