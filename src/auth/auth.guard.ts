import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { setSessionCookie } from '../common/http/cookies.js';
import { Forbidden, SecondFactorRequired, Unauthenticated } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { RequestBodies } from '../common/http/request-bodies.service.js';
import { currentScope } from '../common/http/request-scope.js';
import { ROUTE_INFO, type RouteAccess, type RouteInfo } from '../common/rest/route.js';
import { RouteTable } from '../common/rest/route-table.service.js';
import { SecurityEvents } from '../common/rest/security-events.service.js';
import { Settings } from '../config/settings.js';
import { AuthenticationService } from './authentication.service.js';

const isIgnorable = (error: unknown): boolean =>
  error instanceof Unauthenticated || error instanceof SecondFactorRequired;

/**
 * Authenticates the requests of all routes except those with the `access` `signature`. Public routes also
 * accept anonymous requests. Refuses routes without a declaration.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authentication: AuthenticationService,
    private readonly table: RouteTable,
    private readonly bodies: RequestBodies,
    private readonly events: SecurityEvents,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const access = this.accessOf(context, request);
    if (access === 'signature') return true;
    const actor = await this.identify(context, request, access);
    if (actor) {
      request.actor = actor;
      const scope = currentScope();
      if (scope) scope.actor = actor;
      if (scope?.sessionDigest) this.announceTimeout(context);
      if (scope?.renewedSession) this.renew(context, scope.renewedSession);
    }
    if (access === 'authenticated' && !actor) throw new Unauthenticated();
    if (access === undefined) throw new Forbidden();
    if (currentScope()?.isReadOnly === true && this.infoOf(context)?.showsSecret === true) {
      throw new Forbidden('A read-only token cannot read secrets.');
    }
    return true;
  }

  /** Sets `Session-Timeout` in seconds, so that clients can warn before an idle session ends. */
  private announceTimeout(context: ExecutionContext): void {
    const response = context.switchToHttp().getResponse<Response>();
    if (response.headersSent) return;
    response.setHeader('Session-Timeout', this.settings.SESSION_COOKIE_AGE);
  }

  /** Renews the cookie, so that the browser keeps it as long as the server keeps the session. */
  private renew(context: ExecutionContext, session: string): void {
    const http = context.switchToHttp();
    const age = this.settings.SESSION_COOKIE_AGE;
    setSessionCookie(http.getRequest<Request>(), http.getResponse<Response>(), session, age);
  }

  private async identify(
    context: ExecutionContext,
    request: ApiRequest,
    access: RouteAccess | undefined,
  ): ReturnType<AuthenticationService['authenticate']> {
    try {
      return await this.authentication.authenticate({
        method: request.method,
        ip: request.ip ?? '',
        headers: request.headers,
        secure: request.secure,
        // A response that has begun cannot set a cookie, so its session is not extended.
        extendsSession: !context.switchToHttp().getResponse<Response>().headersSent,
        body: request.body,
        isBeforeSecondFactor: this.infoOf(context)?.isBeforeSecondFactor === true,
      });
    } catch (error) {
      // A public page ignores invalid credentials, and a session that needs a second factor.
      if (access === 'public' && isIgnorable(error)) {
        this.events.recordRefusal(error, request);
        return null;
      }
      // A form that cannot be parsed has no CSRF token. The parse error is more helpful than the CSRF error.
      throw (error instanceof Forbidden && this.bodies.faultOf(request)) || error;
    }
  }

  private infoOf(context: ExecutionContext): RouteInfo | undefined {
    return this.reflector.get<RouteInfo | undefined>(ROUTE_INFO, context.getHandler());
  }

  private accessOf(context: ExecutionContext, request: ApiRequest): RouteAccess | undefined {
    const info = this.infoOf(context);
    if (info) return info.access;
    // The fallback handles every other URL: OPTIONS of a public URL is public too, and URLs outside this
    // version are unknown to every caller (docs/contract/clients.md#logging-in).
    const entry = this.table.match(request.path);
    if (!entry && !request.path.startsWith('/api/v2/')) return 'public';
    const routes = [...(entry?.routes.values() ?? [])];
    const isPublic =
      routes.length > 0 && routes.every((route) => route.info?.access !== 'authenticated');
    return isPublic ? 'public' : 'authenticated';
  }
}
