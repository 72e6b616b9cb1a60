import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { assertPlain, hasBody } from '../http/body.js';
import { sendsLines } from '../http/lines.js';
import { RequestBodies } from '../http/request-bodies.service.js';
import { ROUTE_INFO, type RouteInfo } from './route.js';

/**
 * Reads the body of a request when the guards have found out who sends it, and that it may be sent
 * (docs/contract/conventions.md#order-of-checks). It comes before all other interceptors. Receivers
 * have their bytes already; lines stay in the stream, from which their handler takes them.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly bodies: RequestBodies,
  ) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const info = this.reflector.get<RouteInfo | undefined>(ROUTE_INFO, context.getHandler());
    const fault = this.bodies.faultOf(request);
    if (fault) throw fault;
    if (info?.lines && sendsLines(request)) {
      assertPlain(request);
    } else if (request.body === undefined) {
      // What is not declared is answered without a look at the body: 404, or a description.
      if (info && hasBody(request)) return this.read(request, http.getResponse<Response>(), next);
      request.body = {};
    }
    return next.handle();
  }

  private async read(
    request: Request,
    response: Response,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    await this.bodies.read(request, response);
    return next.handle();
  }
}
