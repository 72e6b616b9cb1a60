import { Module } from '@nestjs/common';
import { CredentialHooks } from './credential.hooks.js';
import { CredentialTypeHooks } from './credential-type.hooks.js';

@Module({ providers: [CredentialHooks, CredentialTypeHooks] })
export class CredentialsModule {}
