import { randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { messageOf, Unavailable, type Forbidden } from '../common/errors/errors.js';
import { Thread, ThreadBusy, threadFile } from '../common/thread.js';
import { Database } from '../database/database.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import { refused } from './external-logins.service.js';
import type { Claims } from './external-rights.js';
import type { LoginChecks } from './oauth-client.service.js';
import {
  LIFETIME_MS,
  samlOf,
  type SamlAddresses,
  type SamlOutcome,
  type SamlTask,
} from './saml-claims.js';
import { SamlResponsesRepository } from './saml-responses.repository.js';

type SamlProvider = AuthenticatorOf<'saml'>;

const MAX_RESPONSE = 262_144;

/** SAML 2.0 with the redirect binding for requests and the POST binding for responses. */
@Injectable()
export class SamlClient implements OnModuleDestroy {
  private readonly logger = new Logger('SingleSignOn');
  /** Thread that verifies responses, because anonymous callers can send one that takes minutes. */
  private readonly thread = new Thread<SamlTask, SamlOutcome>({
    file: threadFile('saml-claims'),
    timeoutMs: 3_000,
    maxWaiting: 16,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
  });

  constructor(
    private readonly database: Database,
    private readonly responses: SamlResponsesRepository,
  ) {}

  onModuleDestroy(): Promise<void> {
    return this.thread.close();
  }

  /** Starts a login. Returns the URL to redirect the browser to, and the checks of the callback. */
  async begin(
    provider: SamlProvider,
    addresses: SamlAddresses,
  ): Promise<LoginChecks & { url: string }> {
    const state = randomBytes(24).toString('base64url');
    const id = `_${randomBytes(24).toString('hex')}`;
    const url = await samlOf(provider.configuration, addresses, id).getAuthorizeUrlAsync(
      state,
      undefined,
      {},
    );
    return { url, state, nonce: id, verifier: '' };
  }

  /**
   * Verifies a response: signature of the assertion, issuer, audience, times, request and
   * recipient. A response is accepted once.
   *
   * @returns the attributes, and claims of OpenID Connect from the attributes that the
   *   configuration names
   * @throws Forbidden with the reason, Unavailable if too many responses wait
   */
  async complete(
    provider: SamlProvider,
    addresses: SamlAddresses,
    { nonce: id }: LoginChecks,
    sent: unknown,
  ): Promise<Claims> {
    if (typeof sent !== 'string' || sent.length > MAX_RESPONSE) {
      throw this.refusalOf(provider, 'it is missing or too large');
    }
    const task = { configuration: provider.configuration, addresses, id, sent };
    const outcome = await this.thread.run(task).catch((error: unknown): SamlOutcome => {
      if (error instanceof ThreadBusy) throw new Unavailable(1);
      return { fault: messageOf(error) };
    });
    if ('fault' in outcome) throw this.refusalOf(provider, outcome.fault.slice(0, 100));
    const isFirst = await this.database.transaction(() =>
      this.responses.take(id, LIFETIME_MS / 1000),
    );
    if (!isFirst) throw this.refusalOf(provider, 'the response was used before');
    return outcome.claims;
  }

  private refusalOf(provider: SamlProvider, reason: string): Forbidden {
    this.logger.warn({ message: 'login failed', authenticator: provider.slug, reason });
    return refused(`The response of the identity provider ${provider.name} is invalid: ${reason}.`);
  }

  /** Returns the metadata that a provider is configured with. */
  metadata(provider: SamlProvider, addresses: SamlAddresses): string {
    return samlOf(provider.configuration, addresses, '').generateServiceProviderMetadata(null);
  }
}
