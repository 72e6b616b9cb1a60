import {
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { firstValueFrom, from, type Observable } from 'rxjs';
import { isDryRun } from '../http/dry-run.js';
import type { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import { Idempotency } from './idempotency.js';

/** Runs the handler once for each `Idempotency-Key`; a dry run does nothing that could be repeated. */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: Idempotency) {}

  intercept(context: ExecutionContext, next: CallHandler<Reply>): Observable<Reply> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (isDryRun(request)) return next.handle();
    return from(this.idempotency.once(request, () => firstValueFrom(next.handle())));
  }
}

/** A route whose repetition with the same `Idempotency-Key` gets the first answer. */
export const Idempotent = (): MethodDecorator => UseInterceptors(IdempotencyInterceptor);
