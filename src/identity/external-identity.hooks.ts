import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { ExternalIdentity } from './authenticator.entity.js';
import { ExternalLogins } from './external-logins.service.js';

/** Revokes the roles that the authenticator granted when an identity is deleted. */
@Injectable()
export class ExternalIdentityHooks implements ResourceHooks<ExternalIdentity> {
  constructor(private readonly logins: ExternalLogins) {}

  async prepareDelete(identity: RowOf<ExternalIdentity>): Promise<void> {
    await this.logins.withdraw(identity);
  }
}
