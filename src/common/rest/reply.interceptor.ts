import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import { envelope, Page } from '../list/page.js';

/**
 * Writes every answer: status and headers that a `Reply` names, 200 where there is none, and the envelope
 * of a list, whose handler gives back a `Page` and knows nothing of links.
 */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    return next.handle().pipe(
      map((value: unknown) => {
        const answer = value instanceof Page ? listAt(request, value) : value;
        return write(answer, response);
      }),
    );
  }
}

function listAt({ path, query }: ApiRequest, page: Page<unknown>): object {
  return envelope(page, path.endsWith('/') ? path : `${path}/`, query);
}

function write(value: unknown, response: Response): unknown {
  // Nest answers POST with 201; only what is created is 201 here, and says so by a Reply.
  if (!(value instanceof Reply)) {
    response.status(200);
    return value;
  }
  response.status(value.status);
  for (const [name, text] of Object.entries(value.headers)) response.setHeader(name, text);
  return value.body;
}
