import { Module } from '@nestjs/common';
import { CredentialHooks } from './credential.hooks.js';
import { CredentialOwner } from './credential-owner.js';
import { CredentialSecrets } from './credential-secrets.js';
import { CredentialTypeHooks } from './credential-type.hooks.js';
import { CredentialTypesController } from './credential-types.controller.js';
import { CredentialsController } from './credentials.controller.js';

@Module({
  controllers: [CredentialTypesController, CredentialsController],
  providers: [CredentialHooks, CredentialOwner, CredentialTypeHooks, CredentialSecrets],
  exports: [CredentialSecrets],
})
export class CredentialsModule {}
