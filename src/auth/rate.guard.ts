import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../common/http/request.js';
import { RateLimiter } from '../common/rate/rate-limiter.js';
import { Settings } from '../config/settings.js';

/** Limits how many tokens a user makes per minute. */
@Injectable()
export class TokenRateGuard implements CanActivate {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { actor } = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    await this.limiter.take('tokens', String(actor.id), this.settings.TOKEN_RATE, response);
    return true;
  }
}
