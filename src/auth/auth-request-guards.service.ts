import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AccessGuard } from '../common/rest/access.guard.js';
import type { ApiRequest } from '../common/http/request.js';
import { RequestGuards } from '../common/rest/request-guards.js';
import { AuthGuard } from './auth.guard.js';

/** The guards of a request in their order, but for the rate: the request was counted when it came. */
@Injectable()
export class AuthRequestGuards implements RequestGuards {
  constructor(
    private readonly authGuard: AuthGuard,
    private readonly accessGuard: AccessGuard,
  ) {}

  async judge(context: ExecutionContext): Promise<void> {
    const request = context.switchToHttp().getRequest<Partial<ApiRequest>>();
    delete request.actor;
    delete request.foundTarget;
    await this.authGuard.canActivate(context);
    await this.accessGuard.canActivate(context);
  }
}
