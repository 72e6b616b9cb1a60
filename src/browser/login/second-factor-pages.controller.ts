import { Body, Controller, Get, Ip, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuthenticationService } from '../../auth/authentication.service.js';
import { Passkeys } from '../../auth/passkeys.service.js';
import { SecondFactors } from '../../auth/second-factors.service.js';
import { nextPath } from '../../auth/sessions.service.js';
import { newSecret, uriOf } from '../../auth/totp.js';
import type { Actor } from '../../common/access.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { Forbidden, Invalid, textOfErrors } from '../../common/errors/errors.js';
import { isStorable } from '../../common/fields/text.js';
import * as json from '../../common/fields/json-schema.js';
import { Reply } from '../../common/http/reply.js';
import { currentScope } from '../../common/http/request-scope.js';
import type { QueryParameters } from '../../common/list/query.js';
import { openState, sealState } from '../../common/http/sealed-state.js';
import { CurrentActor, ListParams } from '../../common/rest/parameters.js';
import { Route, type RouteInfo } from '../../common/rest/route.js';
import { SecurityEvents } from '../../common/rest/security-events.service.js';
import { PAGE_ROUTE, pageReply } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import {
  codesPage,
  PAGE_PATH,
  passkeyPage,
  secretPage,
  startPage,
  statePage,
} from './second-factor-page.js';

type Fields = Readonly<Record<string, unknown>>;

/** Parts of a request whose form contains a password or a code. */
interface ConfirmationRequest {
  body: Fields;
  page: PageContext;
  actor: Actor;
  address: string;
}

const SETUP_MS = 600_000;

const route = (operationId: string, summary: string): RouteInfo => ({
  ...PAGE_ROUTE,
  operationId,
  summary,
});
const SETUP = { isBeforeSecondFactor: true } as const;

/** Pages on which users set up their second factor (docs/second-factor.md). */
@ApiTags('login')
@Controller('second-factor')
export class SecondFactorPagesController {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly factors: SecondFactors,
    private readonly passkeys: Passkeys,
    private readonly events: SecurityEvents,
    private readonly box: SecretBox,
  ) {}

  @Route({
    ...route('second_factor_page', 'Page of the second factor of the user of the session.'),
    ...SETUP,
    query: [{ name: 'next', description: 'Path to continue at.', schema: json.STRING }],
  })
  @Get()
  show(
    @ListParams() query: QueryParameters,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    assertSession();
    return this.state(page, actor, nextPath(query.next ?? '/'));
  }

  @Route({
    ...route('second_factor_begin', 'Show the secret for an authenticator app.'),
    ...SETUP,
  })
  @Post('begin')
  async begin(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
    @Ip() address: string,
  ): Promise<Reply> {
    const { next, refused } = await this.checkFactor({ body, page, actor, address });
    return refused ?? this.secret(page, actor, { next, secret: newSecret() });
  }

  @Route({
    ...route('second_factor_confirm', 'Store the secret of an authenticator app.'),
    ...SETUP,
  })
  @Post('confirm')
  async confirm(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    const next = nextPath(body.next);
    const setup = openState(this.box, contextOf(actor), body.setup);
    if (!setup) throw new Forbidden('The setup took over 10 minutes or began in another session.');
    const secret = stringOf(setup.secret);
    try {
      const codes = await this.factors.enroll(actor.id, secret, stringOf(body.code));
      return pageReply(codesPage(page, { next, codes }));
    } catch (error) {
      return this.secret(page, actor, { next, secret, error: this.correctable(error, page) });
    }
  }

  @Route(route('second_factor_codes', 'Replace the recovery codes.'))
  @Post('codes')
  async renewCodes(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
    @Ip() address: string,
  ): Promise<Reply> {
    // Users without a second factor have no recovery codes.
    const proof = { ...body, password: '' };
    const { next, refused } = await this.checkFactor({ body: proof, page, actor, address });
    if (refused) return refused;
    const codes = await this.factors.renewCodes(actor.id);
    return pageReply(codesPage(page, { next, codes }));
  }

  @Route({ ...route('second_factor_passkey_begin', 'Start to create a passkey.'), ...SETUP })
  @Post('passkeys/begin')
  async beginPasskey(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
    @Ip() address: string,
  ): Promise<Reply> {
    const { next, refused } = await this.checkFactor({ body, page, actor, address });
    if (refused) return refused;
    const name = nameOf(body);
    const passkey = await this.passkeys.beginCreation(actor, page.origin);
    return pageReply(passkeyPage(page, { next, name, passkey }));
  }

  @Route({ ...route('second_factor_passkey_confirm', 'Store a new passkey.'), ...SETUP })
  @Post('passkeys/confirm')
  async confirmPasskey(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    assertSession();
    const next = nextPath(body.next);
    const name = nameOf(body);
    const passkey = await this.passkeys.created(actor, page.origin, body.state, body.credential);
    if (!passkey) return this.state(page, actor, next, 'The passkey was not accepted. Try again.');
    const codes = await this.factors.addPasskey(actor.id, name, passkey);
    return codes
      ? pageReply(codesPage(page, { next, codes }))
      : new Reply(302, undefined, { Location: PAGE_PATH });
  }

  @Route({
    ...route('second_factor_passkey_remove', 'Remove a passkey.'),
    redirects: true,
  })
  @Post('passkeys/remove')
  async removePasskey(
    @Body() body: Fields,
    @OpenedPage() page: PageContext,
    @CurrentActor() actor: Actor,
    @Ip() address: string,
  ): Promise<Reply> {
    const { refused } = await this.checkFactor({ body, page, actor, address });
    if (refused) return refused;
    const id = /^\d{1,9}$/.exec(stringOf(body.id))?.[0] ?? '0';
    if (await this.factors.removePasskey(actor.id, Number(id)))
      this.events.record('second_factor_removed', page, actor.username);
    return new Reply(302, undefined, { Location: PAGE_PATH });
  }

  /** Checks the password or code of a form; `refused` is the page with the error if the check fails. */
  private async checkFactor({
    body,
    page,
    actor,
    address,
  }: ConfirmationRequest): Promise<{ next: string; refused?: Reply }> {
    assertSession();
    const next = nextPath(body.next);
    try {
      const sent = {
        username: stringOf(body.username) || actor.username,
        password: stringOf(body.password),
        code: stringOf(body.code),
      };
      await this.factors.confirm(actor, sent, address);
      return { next };
    } catch (error) {
      return { next, refused: await this.state(page, actor, next, this.correctable(error, page)) };
    }
  }

  private async state(
    page: PageContext,
    { id, username, isSuperuser, isSystemAuditor }: Actor,
    next: string,
    error?: string,
  ): Promise<Reply> {
    const state = await this.factors.stateOf(id);
    const offersPasskeys = await this.passkeys.areUsable(page.origin);
    const parts = { next, error, offersPasskeys };
    const status = error === undefined ? 200 : 403;
    if (state) return pageReply(statePage(page, { ...parts, ...state, user: id }), status);
    const isRequired = await this.authentication.lacksSecondFactor({
      has_second_factor: false,
      is_superuser: isSuperuser,
      is_system_auditor: isSystemAuditor,
    });
    const loginName = (await this.factors.needsDirectory(id)) ? username : null;
    return pageReply(startPage(page, { ...parts, isRequired, loginName }), status);
  }

  private secret(
    page: PageContext,
    actor: Actor,
    parts: { next: string; secret: string; error?: string },
  ): Reply {
    const { secret, error } = parts;
    const setup = sealState(this.box, contextOf(actor), { secret }, SETUP_MS);
    const uri = uriOf(secret, actor.username);
    return pageReply(secretPage(page, { ...parts, uri, setup }), error === undefined ? 200 : 400);
  }

  /**
   * Returns the text of an error that the user can correct; records a refusal as a security event.
   *
   * @throws any other error
   */
  private correctable(error: unknown, page: PageContext): string {
    if (error instanceof Invalid) return textOfErrors(error.errors);
    if (!(error instanceof Forbidden)) throw error;
    this.events.recordRefusal(error, page);
    return error.message;
  }
}

/** Returns the digest of the session. @throws Forbidden for a token or a password */
function assertSession(): string {
  const { sessionDigest } = currentScope() ?? {};
  if (sessionDigest === undefined) throw new Forbidden('Log in with a browser.');
  return sessionDigest;
}

/** Returns the context that seals a secret for the current session. */
const contextOf = ({ id }: Actor): unknown[] => ['second factor', id, assertSession()];

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** @throws Invalid for a name that is empty, longer than 100 characters or cannot be stored */
function nameOf({ name }: Fields): string {
  const text = stringOf(name).trim();
  if (text === '' || text.length > 100 || !isStorable(text)) {
    throw Invalid.field('name', 'Enter a name with at most 100 characters.');
  }
  return text;
}
