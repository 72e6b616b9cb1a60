import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RateGuard } from '../common/rate/rate.guard.js';
import { AccessGuard } from '../common/rest/access.guard.js';
import { RequestGuards } from '../common/rest/request-guards.js';
import { SessionStore } from '../users/session-store.js';
import { AuthGuard } from './auth.guard.js';
import { AuthenticationService } from './authentication.service.js';
import { AuthRequestGuards } from './auth-request-guards.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import './tables.js';
import { TokenStore } from '../users/token-store.js';
import { TokensController } from './tokens.controller.js';
import { TokensRepository } from './tokens.repository.js';
import { TokensService } from './tokens.service.js';
import { UserTokensController } from './user-tokens.controller.js';

@Global()
@Module({
  controllers: [TokensController, UserTokensController],
  providers: [
    SessionsRepository,
    { provide: SessionStore, useExisting: SessionsRepository },
    TokensRepository,
    { provide: TokenStore, useExisting: TokensRepository },
    AuthenticationService,
    LoginThrottle,
    SessionsService,
    TokensService,
    // Order of the guards: authentication, rate limit, authorization on the object in the URL.
    AuthGuard,
    AccessGuard,
    { provide: APP_GUARD, useExisting: AuthGuard },
    { provide: APP_GUARD, useClass: RateGuard },
    { provide: APP_GUARD, useExisting: AccessGuard },
    { provide: RequestGuards, useClass: AuthRequestGuards },
  ],
  exports: [
    AuthenticationService,
    SessionsService,
    SessionStore,
    TokenStore,
    TokensService,
    RequestGuards,
  ],
})
export class AuthModule {}
