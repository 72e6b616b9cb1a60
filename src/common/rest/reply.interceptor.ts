import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { envelope, Page } from '../list/page.js';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';

/** Shapes answers: pages become envelopes, replies set status and headers. */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((value) => this.shape(value, request, response)));
  }

  private shape(value: unknown, request: ApiRequest, response: Response): unknown {
    if (value instanceof Page) {
      response.status(200);
      const path = request.path.endsWith('/') ? request.path : `${request.path}/`;
      return envelope(value, path, request.query);
    }
    if (value instanceof Reply) {
      response.status(value.status);
      for (const [name, text] of Object.entries(value.headers)) response.setHeader(name, text);
      return value.body;
    }
    // Nest answers POST with 201; only what is created is 201 here, and says so by a Reply.
    response.status(200);
    return value;
  }
}
