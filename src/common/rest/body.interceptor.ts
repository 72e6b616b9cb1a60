import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { assertPlain, hasBody } from '../http/body.js';
import { sendsLines } from '../http/lines.js';
import type { ApiRequest } from '../http/request.js';
import { RequestBodies } from '../http/request-bodies.service.js';
import { ROUTE_INFO, type RouteInfo } from './route.js';

/** Guards of a request, which run before its body is read. The auth module implements this class. */
export abstract class RequestGuards {
  /**
   * Authenticates the caller and authorizes the object of the URL again.
   *
   * @throws Unauthenticated, Forbidden, NotFound
   */
  abstract check(context: ExecutionContext): Promise<void>;
}

/**
 * Reads the request body after the guards have authenticated the caller and authorized the object of the
 * URL (docs/contract/conventions.md#order-of-checks). If the body was still incomplete at that time, the
 * guards run again once the body is complete: the caller can lose the permission during the upload. This
 * interceptor runs before all others. Webhook receivers already have their bytes; an NDJSON body stays
 * in the stream, from which the handler reads it.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly bodies: RequestBodies,
    private readonly guards: RequestGuards,
  ) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const info = this.reflector.get<RouteInfo | undefined>(ROUTE_INFO, context.getHandler());
    const fault = this.bodies.faultOf(request);
    if (fault) throw fault;
    request.reauthorize = () => this.guards.check(context);
    if (info?.lines && sendsLines(request)) {
      assertPlain(request);
    } else if (request.body === undefined) {
      // A route without a declaration is handled without reading the body: 404, or a description.
      if (info && hasBody(request)) return this.read(context, request, next);
      request.body = {};
    }
    return next.handle();
  }

  private async read(
    context: ExecutionContext,
    request: ApiRequest,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const isLate = !request.complete;
    await this.bodies.read(request, context.switchToHttp().getResponse<Response>());
    if (isLate) await this.guards.check(context);
    return next.handle();
  }
}
