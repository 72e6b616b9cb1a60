import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';

/** Adds a header with the maximum number of events that clients should load (MAX_UI_JOB_EVENTS). */
@Injectable()
export class MaxEventsInterceptor implements NestInterceptor {
  constructor(private readonly runtime: RuntimeSettings) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { MAX_UI_JOB_EVENTS: max } = await this.runtime.get('MAX_UI_JOB_EVENTS');
    context.switchToHttp().getResponse<Response>().setHeader('X-UI-Max-Events', max);
    return next.handle();
  }
}
