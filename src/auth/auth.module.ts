import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../users/users.module.js';
import { RateGuard } from '../common/rate/rate.guard.js';
import { AccessGuard } from '../common/rest/access.guard.js';
import { AuthGuard } from './auth.guard.js';
import { AuthenticationService } from './authentication.service.js';
import { AuthRequestGuards } from './auth-request-guards.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { IncompleteLogins } from './incomplete-logins.service.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { Passkeys } from './passkeys.service.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { Passkey, RecoveryCode, TotpSecret } from './second-factor.entity.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactors } from './second-factors.service.js';
import { TotpSecretsRepository } from './totp-secrets.repository.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import { TokensController } from './tokens.controller.js';
import { TokensRepository } from './tokens.repository.js';
import { TokensService } from './tokens.service.js';
import { UserTokensController } from './user-tokens.controller.js';
import { Session } from './session.entity.js';
import { Token } from './token.entity.js';
import { TokenHooks } from './token.hooks.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Session, Token, TotpSecret, RecoveryCode, Passkey]),
    UsersModule,
  ],
  controllers: [SecondFactorController, TokensController, UserTokensController],
  providers: [
    SessionsRepository,
    TokensRepository,
    TotpSecretsRepository,
    RecoveryCodesRepository,
    PasskeysRepository,
    Passkeys,
    AuthenticationService,
    IncompleteLogins,
    LoginThrottle,
    SecondFactors,
    SessionsService,
    TokenHooks,
    TokensService,
    // Order of the guards: authentication, rate limit, authorization on the object in the URL.
    AuthGuard,
    AccessGuard,
    { provide: APP_GUARD, useExisting: AuthGuard },
    { provide: APP_GUARD, useClass: RateGuard },
    { provide: APP_GUARD, useExisting: AccessGuard },
    AuthRequestGuards,
  ],
  exports: [
    AuthenticationService,
    IncompleteLogins,
    Passkeys,
    SecondFactors,
    SessionsService,
    SessionsRepository,
    TokensRepository,
    TokensService,
    AuthRequestGuards,
  ],
})
export class AuthModule {}
