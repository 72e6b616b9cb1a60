import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../common/http/request.js';
import { RateLimiter } from '../common/rate/rate-limiter.js';
import { Settings } from '../config/settings.js';

/** Limits how many notifications a user sends by hand per minute. */
@Injectable()
export class NotificationRateGuard implements CanActivate {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { actor } = http.getRequest<ApiRequest>();
    const { NOTIFICATION_TEST_RATE } = this.settings;
    const response = http.getResponse<Response>();
    await this.limiter.take('notifications', String(actor.id), NOTIFICATION_TEST_RATE, response);
    return true;
  }
}
