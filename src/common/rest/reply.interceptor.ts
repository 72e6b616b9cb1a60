import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Reply } from '../http/reply.js';

/** Writes status and headers of every answer: those a `Reply` names, 200 where there is none. */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((value: unknown) => write(value, response)));
  }
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
