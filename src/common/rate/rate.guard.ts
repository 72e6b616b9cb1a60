import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import type { ApiRequest } from '../http/request.js';
import { RateLimiter } from './rate-limiter.js';

interface UserRate {
  /** Routes of one name share what they may be called. */
  name: string;
  /** Setting with the number of calls in a minute. */
  setting: 'TOKEN_RATE' | 'NOTIFICATION_TEST_RATE';
}

const USER_RATE = 'controller:user-rate';

/** Limits how often a user may call a route in a minute. */
export const LimitedPerUser = (name: string, setting: UserRate['setting']): MethodDecorator =>
  SetMetadata(USER_RATE, { name, setting } satisfies UserRate);

/** Counts calls of routes that are limited, those that are going to be refused as well. */
@Injectable()
export class RateGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rate = this.reflector.get<UserRate | undefined>(USER_RATE, context.getHandler());
    if (!rate) return true;
    const http = context.switchToHttp();
    const { actor } = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    await this.limiter.take(rate.name, String(actor.id), this.settings[rate.setting], response);
    return true;
  }
}
