import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthenticatorMap, Authenticator, ExternalIdentity } from './authenticator.entity.js';
import { AuthenticatorHooks, AuthenticatorMapHooks } from './authenticator.hooks.js';
import { AuthenticatorMapsController } from './authenticator-maps.controller.js';
import { AuthenticatorMapsRepository } from './authenticator-maps.repository.js';
import { AuthenticatorsController } from './authenticators.controller.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import { DirectoryPasswords } from './directory-passwords.service.js';
import { ExternalIdentitiesController } from './external-identities.controller.js';
import { ExternalIdentityHooks } from './external-identity.hooks.js';
import { ExternalIdentitiesRepository } from './external-identities.repository.js';
import { ExternalLogins } from './external-logins.service.js';
import { LdapClient } from './ldap-client.service.js';
import { LocalAuthRule } from './local-auth-rule.service.js';
import { LoginImport } from './login-import.service.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { OAuthClient } from './oauth-client.service.js';
import { SamlClient } from './saml-client.service.js';
import { SamlResponse } from './saml-response.entity.js';
import { SamlResponsesRepository } from './saml-responses.repository.js';
import { SingleSignOnController } from './single-sign-on.controller.js';
import { SingleSignOn } from './single-sign-on.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Authenticator, AuthenticatorMap, ExternalIdentity, SamlResponse]),
    AccessModule,
    AuthModule,
    OrganizationsModule,
    OutboundModule,
    TeamsModule,
    UsersModule,
  ],
  controllers: [
    AuthenticatorsController,
    AuthenticatorMapsController,
    ExternalIdentitiesController,
    SingleSignOnController,
  ],
  providers: [
    AuthenticatorsRepository,
    AuthenticatorMapsRepository,
    ExternalIdentitiesRepository,
    AuthenticatorHooks,
    AuthenticatorMapHooks,
    ExternalIdentityHooks,
    ExternalLogins,
    OAuthClient,
    SamlClient,
    SamlResponsesRepository,
    LdapClient,
    DirectoryPasswords,
    LocalAuthRule,
    LoginImport,
    SingleSignOn,
  ],
  exports: [
    AuthenticatorsRepository,
    ExternalIdentitiesRepository,
    DirectoryPasswords,
    LdapClient,
    LocalAuthRule,
    SingleSignOn,
  ],
})
export class IdentityModule {}
