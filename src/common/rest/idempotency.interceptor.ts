import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { firstValueFrom, from, type Observable } from 'rxjs';
import { isDryRun } from './parameters.js';
import { sendsLines } from '../http/lines.js';
import { BadRequest } from '../errors/errors.js';
import type { ApiRequest } from '../http/request.js';
import {
  Idempotency,
  keyedRequest,
  MAX_KEY_LENGTH,
  type KeyedOutcome,
} from './idempotency.service.js';
import { replyOf } from './reply.interceptor.js';

/**
 * Runs the handler once for each `Idempotency-Key` and throws a refusal that the handler returned. A dry
 * run has no effect to repeat, so its key is ignored. An NDJSON body has not been read yet, so the
 * handler that reads it applies the key.
 */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: Idempotency) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const usesKey = !isDryRun(request) && !sendsLines(request);
    const keyed = usesKey ? keyedRequest(request) : { ...keyedRequest(request), key: undefined };
    const work = async (): Promise<KeyedOutcome> => {
      const value: unknown = await firstValueFrom(next.handle());
      return value instanceof BadRequest ? value : replyOf(value, context);
    };
    return from(this.idempotency.once(keyed, request.body, work));
  }
}

/** Marks a route that replays the first response to requests with the same `Idempotency-Key`. */
export const Idempotent = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'A repeated request with the same key returns the first response.',
      schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH },
    }),
  );
