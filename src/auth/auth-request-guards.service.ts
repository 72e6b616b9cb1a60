import { Injectable, type ExecutionContext, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Forbidden, Unauthenticated } from '../common/errors/errors.js';
import { currentScope, type RequestScope } from '../common/http/request-scope.js';
import { settleAll } from '../database/settle-all.js';
import { Database } from '../database/database.js';
import { UsersRepository, type Account } from '../users/users.repository.js';
import { SessionsService } from './sessions.service.js';
import { TokensRepository } from './tokens.repository.js';
import { AccessGuard } from '../common/rest/access.guard.js';
import type { ApiRequest } from '../common/http/request.js';
import { RequestGuards } from '../common/rest/body.interceptor.js';
import { AuthGuard } from './auth.guard.js';

/** Types of objects whose routes can change accounts and tokens, including those of the caller. */
const CHANGE_ACCOUNTS: ReadonlySet<string> = new Set(['user', 'role', 'o_auth2_access_token']);

/**
 * Runs the guards of a request again, in order. Skips the rate limit, because the request has already
 * been counted. Also authorizes the caller at the beginning of every transaction that can write.
 */
@Injectable()
export class AuthRequestGuards implements RequestGuards, OnModuleInit {
  constructor(
    private readonly authGuard: AuthGuard,
    private readonly accessGuard: AccessGuard,
    private readonly database: Database,
    private readonly tokens: TokensRepository,
    private readonly sessions: SessionsService,
    private readonly users: UsersRepository,
  ) {}

  onModuleInit(): void {
    this.database.onBegin = async () => {
      const scope = currentScope();
      if (scope?.actor) await this.checkWrite(scope, scope.actor);
    };
  }

  async check(context: ExecutionContext): Promise<void> {
    const request = context.switchToHttp().getRequest<Partial<ApiRequest>>();
    delete request.actor;
    await this.authGuard.canActivate(context);
    await this.accessGuard.canActivate(context);
  }

  /**
   * Authorizes the caller at the beginning of a transaction, and keeps the decision valid until its
   * end. Locks the rows of the caller and of the token or session, so that a request that deletes
   * them waits for the write. A request that can change accounts takes the stronger lock
   * immediately: two requests that both upgrade a weaker lock would deadlock.
   *
   * @throws Unauthenticated, Forbidden, NotFound
   */
  private async checkWrite(scope: RequestScope, actor: Actor): Promise<void> {
    const { target } = scope;
    const changed = target?.type === 'user' ? [target.id] : [];
    // Sent together, in this order: the object is authorized after the caller is locked.
    const [, account, refusal] = await settleAll([
      target && CHANGE_ACCOUNTS.has(target.type)
        ? this.users.lockForChange([actor.id, ...changed])
        : undefined,
      this.lock(scope, actor),
      actor.isSuperuser ? null : target?.authorize().then(() => null, errorOf),
    ]);
    if (account?.id !== actor.id) throw new Unauthenticated();
    const { is_superuser: isSuperuser, is_system_auditor: isSystemAuditor } = account;
    const lostFlag =
      (actor.isSuperuser && !isSuperuser) || (actor.isSystemAuditor && !isSystemAuditor);
    if (lostFlag) throw new Forbidden();
    if (refusal) throw refusal;
  }

  private async lock(
    { tokenDigest, sessionDigest, isReadOnly }: RequestScope,
    { id }: Actor,
  ): Promise<Account | undefined> {
    if (tokenDigest !== undefined) {
      const use = await this.tokens.lockUse(tokenDigest);
      if (use && isReadOnly !== true && !use.scope.includes('write')) throw new Forbidden();
      return use;
    }
    return sessionDigest === undefined
      ? this.users.lockAccount(id)
      : this.sessions.lockUser(sessionDigest);
  }
}

const errorOf = (error: unknown): unknown => error;
