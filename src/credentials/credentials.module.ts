import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module.js';
import { UsersModule } from '../users/users.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { CredentialInputSourceHooks } from './credential-input-source.hooks.js';
import { CredentialInputSourcesController } from './credential-input-sources.controller.js';
import { CredentialInputSourcesRepository } from './credential-input-sources.repository.js';
import { CredentialHooks } from './credential.hooks.js';
import { CredentialOwner } from './credential-owner.service.js';
import { CredentialSecrets } from './credential-secrets.service.js';
import { CredentialTypeHooks } from './credential-type.hooks.js';
import { CredentialTypesController } from './credential-types.controller.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import { CredentialCopyController, CredentialsController } from './credentials.controller.js';
import { CredentialsRepository } from './credentials.repository.js';
import { SecretLookups } from './external/secret-lookups.service.js';
import { LookupTests } from './lookup-tests.service.js';
import { CredentialInputSource } from './credential-input-source.entity.js';
import { CredentialType } from './credential-type.entity.js';
import { Credential } from './credential.entity.js';
import { CredentialExtension } from './credential.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Credential, CredentialInputSource, CredentialType]),
    OutboundModule,
    AccessModule,
    UsersModule,
  ],
  controllers: [
    CredentialTypesController,
    CredentialsController,
    CredentialCopyController,
    CredentialInputSourcesController,
  ],
  providers: [
    CredentialExtension,
    CredentialsRepository,
    CredentialTypesRepository,
    CredentialHooks,
    CredentialOwner,
    CredentialTypeHooks,
    CredentialSecrets,
    CredentialInputSourcesRepository,
    CredentialInputSourceHooks,
    SecretLookups,
    LookupTests,
  ],
  exports: [CredentialsRepository, CredentialTypesRepository, CredentialSecrets],
})
export class CredentialsModule {}
