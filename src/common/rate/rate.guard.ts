import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import type { ApiRequest } from '../http/request.js';
import { RateLimiter } from './rate-limiter.service.js';

/** Rate limit of each user for the routes of one kind, per minute. `setting` names the limit. */
interface UserLimit {
  kind: string;
  setting: 'TOKEN_RATE' | 'NOTIFICATION_TEST_RATE' | 'CREDENTIAL_TEST_RATE';
}

export const TOKENS: UserLimit = { kind: 'tokens', setting: 'TOKEN_RATE' };
export const NOTIFICATIONS: UserLimit = {
  kind: 'notifications',
  setting: 'NOTIFICATION_TEST_RATE',
};

export const CREDENTIAL_TESTS: UserLimit = {
  kind: 'credential tests',
  setting: 'CREDENTIAL_TEST_RATE',
};

/** Limits the calls of a route per user, regardless of their outcome. */
export const LimitedPerUser = Reflector.createDecorator<UserLimit>();

/** Counts the calls of limited routes, including those that are refused later. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit: UserLimit | undefined = this.reflector.get(LimitedPerUser, context.getHandler());
    if (!limit) return true;
    const http = context.switchToHttp();
    const { actor } = http.getRequest<ApiRequest>();
    const max = this.settings[limit.setting];
    await this.limiter.take(limit.kind, String(actor.id), max, http.getResponse<Response>());
    return true;
  }
}
