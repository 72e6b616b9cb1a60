import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/errors/errors.js';
import { currentScope } from '../common/http/request-scope.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { ExternalIdentity } from './authenticator.entity.js';
import { ExternalLogins } from './external-logins.service.js';

/**
 * Refuses identities that an application creates, and revokes the roles that the authenticator granted when an
 * identity is deleted.
 */
@Injectable()
export class ExternalIdentityHooks implements ResourceHooks<ExternalIdentity> {
  constructor(private readonly logins: ExternalLogins) {}

  async prepareCreate(): Promise<void> {
    // The linked account could log in even after the grant of the application has ended.
    if (currentScope()?.isApplication) throw new Forbidden('An application cannot link accounts.');
  }

  async prepareDelete(identity: RowOf<ExternalIdentity>): Promise<void> {
    await this.logins.revokeRoles(identity);
  }
}
