import { Global, Module } from '@nestjs/common';
import { CredentialHooks } from './credential.hooks.js';
import { CredentialOwner } from './credential-owner.service.js';
import { CredentialSecrets } from './credential-secrets.service.js';
import { CredentialTypeHooks } from './credential-type.hooks.js';
import { CredentialTypesController } from './credential-types.controller.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsRepository } from './credentials.repository.js';

@Global()
@Module({
  controllers: [CredentialTypesController, CredentialsController],
  providers: [
    CredentialsRepository,
    CredentialTypesRepository,
    CredentialHooks,
    CredentialOwner,
    CredentialTypeHooks,
    CredentialSecrets,
  ],
  exports: [CredentialsRepository, CredentialTypesRepository, CredentialSecrets],
})
export class CredentialsModule {}
