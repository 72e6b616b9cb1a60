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
import { RequestGuards } from './request-guards.js';
import { ROUTE_INFO, type RouteInfo } from './route.js';

/**
 * Reads the body of a request after the guards have authenticated the caller and judged the object of
 * the URL (docs/contract/conventions.md#order-of-checks). A body that was not complete by then is judged
 * again when it is: the caller may have lost the permission while it was sent. This interceptor comes
 * before all others. Receivers have their bytes already; lines stay in the stream, from which their
 * handler takes them.
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
    request.judgeAgain = () => this.guards.judge(context);
    if (info?.lines && sendsLines(request)) {
      assertPlain(request);
    } else if (request.body === undefined) {
      // What is not declared is answered without a look at the body: 404, or a description.
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
    if (isLate) await this.guards.judge(context);
    return next.handle();
  }
}
