import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { UsersModule } from '../users/users.module.js';
import { ApplicationExtension } from './application.extension.js';
import { Application, AuthorizationCode } from './application.entity.js';
import { ApplicationHooks } from './application.hooks.js';
import {
  ApplicationsController,
  OrganizationApplicationsController,
} from './applications.controller.js';
import { ApplicationsRepository } from './applications.repository.js';
import { AuthorizationServer } from './authorization-server.service.js';
import { OAuthModel } from './oauth-model.service.js';
import { TokenEndpointsController } from './token-endpoints.controller.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Application, AuthorizationCode]),
    AccessModule,
    AuthModule,
    UsersModule,
  ],
  controllers: [
    ApplicationsController,
    OrganizationApplicationsController,
    TokenEndpointsController,
  ],
  providers: [
    ApplicationsRepository,
    ApplicationHooks,
    ApplicationExtension,
    OAuthModel,
    AuthorizationServer,
  ],
  exports: [AuthorizationServer],
})
export class ApplicationsModule {}
