import {
  Injectable,
  mixin,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import type { ApiRequest } from '../http/request.js';
import { RateLimiter } from './rate-limiter.js';

/** Limits how often a user may call a route in a minute. The setting names the number. */
export function perUser(
  name: string,
  setting: 'TOKEN_RATE' | 'NOTIFICATION_TEST_RATE',
): Type<CanActivate> {
  @Injectable()
  class RateGuard implements CanActivate {
    constructor(
      private readonly limiter: RateLimiter,
      private readonly settings: Settings,
    ) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const http = context.switchToHttp();
      const { actor } = http.getRequest<ApiRequest>();
      const response = http.getResponse<Response>();
      await this.limiter.take(name, String(actor.id), this.settings[setting], response);
      return true;
    }
  }
  return mixin(RateGuard);
}

export const TokenRateGuard = perUser('tokens', 'TOKEN_RATE');
export const NotificationRateGuard = perUser('notifications', 'NOTIFICATION_TEST_RATE');
