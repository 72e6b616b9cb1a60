import { Injectable } from '@nestjs/common';
import type { OutboundRequest } from '../outbound/outbound-client.js';
import { resource } from '../common/resource/define-resource.js';
import { Settings } from '../config/settings.js';
import { CredentialSecrets } from '../credentials/credential-secrets.service.js';
import type { LookupSession } from '../credentials/external/lookup-session.js';
import { textInput } from '../credentials/types/inputs.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { webhookService } from '../code-hosts/services.js';
import {
  buildStatusPost,
  mayPostTo,
  statusContext,
  UnusableToken,
} from '../code-hosts/status-body.js';
import type { LeasedPost } from './status-posts.repository.js';

/**
 * Error for a post that cannot be sent in the current configuration. The message contains no
 * secrets.
 */
export class Unpostable extends Error {}

/** The request to send, and the token in it, which must not be logged. */
export interface ComposedPost {
  request: OutboundRequest;
  token: string;
}

/** Builds the requests that post a status. */
@Injectable()
export class StatusPostComposer {
  constructor(
    private readonly credentials: CredentialSecrets,
    private readonly settings: Settings,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** @throws Unpostable; UnsealError or LookupError if the token is not available */
  async compose(post: LeasedPost, lookups: LookupSession): Promise<ComposedPost> {
    const { token, host } = await this.credential(post, lookups);
    const { publicHosts } = webhookService(post.service).status;
    const allowedHosts = [...publicHosts, ...this.settings.WEBHOOK_STATUS_HOSTS];
    if (!mayPostTo(post.url, { credentialHost: host, allowedHosts })) {
      throw new Unpostable(
        'The credential may not be sent to the host in the webhook payload. Set this host ' +
          'in the credential. Without a host in the credential, add this host to WEBHOOK_STATUS_HOSTS.',
      );
    }
    const built = this.build(post, await this.targetUrl(post), token);
    if (!built) throw new Unpostable(`The service does not support the status ${post.status}.`);
    const { headers, body } = built;
    const request: OutboundRequest = {
      method: 'POST',
      url: post.url,
      headers,
      body: JSON.stringify(body),
      redirects: 'same-host',
    };
    return { request, token: token.trim() };
  }

  private async credential(
    { credentialId }: LeasedPost,
    lookups: LookupSession,
  ): Promise<{ token: string; host: string }> {
    const ids = credentialId === null ? [] : [credentialId];
    const opened = await this.credentials.open(ids, lookups);
    const inputs = credentialId === null ? undefined : opened.get(credentialId)?.inputs;
    if (!inputs) throw new Unpostable('The webhook credential was deleted.');
    return { token: textInput(inputs, 'token'), host: textInput(inputs, 'host') };
  }

  private build(post: LeasedPost, targetUrl: string, token: string) {
    const { jobId: id, runType, status, template, service } = post;
    const { contextLimit } = webhookService(service).status;
    const context = statusContext(template, this.settings.WEBHOOK_STATUS_CONTEXT, contextLimit);
    const run = { id, label: resource(runType).label, status, targetUrl, context };
    try {
      return buildStatusPost(service, run, token);
    } catch (error) {
      throw error instanceof UnusableToken ? new Unpostable(error.message) : error;
    }
  }

  private async targetUrl({ runType, jobId }: LeasedPost): Promise<string> {
    return (await this.baseUrl.get()) + resource(runType).url(jobId);
  }
}
