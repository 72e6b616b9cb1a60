import type { OnApplicationShutdown } from '@nestjs/common';
import type { Agent, Dispatcher } from 'undici';
import { AddressGuard, type Resolver } from './address-guard.js';
import { assertHeaders } from './header-check.js';
import { createGuardedAgent, type TlsIdentity } from './outbound-agents.js';
import { OutboundError, RedirectLimitError, translateError } from './outbound-error.js';
import { redirectTarget, type RedirectMode } from './redirect.js';

/** Options of an OutboundClient (docs/contract/operations.md#outbound-calls). */
export interface OutboundClientOptions {
  /** Permitted private networks: the setting `OUTBOUND_ALLOW`, in CIDR notation. */
  readonly allow: readonly string[];
  readonly userAgent: string;
  /** Timeout of the DNS lookup, the connection and the TLS handshake. */
  readonly connectTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  /** Timeout of the whole call, including redirects. */
  readonly totalTimeoutMs?: number;
  /** Maximum number of bytes read of a response body; the rest is discarded. */
  readonly maxResponseBytes?: number;
  readonly resolver?: Resolver;
}

export interface OutboundRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** http or https. User information in it is sent as Basic authentication. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Default true. */
  readonly verifyTls?: boolean;
  /** Trusted authorities and client certificate for this call only. */
  readonly tls?: TlsIdentity;
  /** Default `none`: a 3xx response is returned like any other. */
  readonly redirects?: RedirectMode;
  /** Aborts the call early, for example at shutdown. The call then fails with a retryable `timeout`. */
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Response body, decoded as UTF-8, up to `maxResponseBytes`. */
  readonly body: string;
  readonly truncated: boolean;
  readonly durationMs: number;
}

const DEFAULTS = {
  connectTimeoutMs: 3_000,
  headersTimeoutMs: 10_000,
  totalTimeoutMs: 15_000,
  maxResponseBytes: 65_536,
};

const MAX_REDIRECTS = 5;

interface Hop {
  readonly url: URL;
  readonly request: OutboundRequest;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly agent: Agent;
}

/**
 * Client for all outbound HTTP calls, shared by all features: every address is verified
 * at connect time, every call is limited in time and size, and redirects stay on the same host. All
 * failures are OutboundErrors; an HTTP status is never an error here.
 */
export class OutboundClient implements OnApplicationShutdown {
  /** Address guard of this client, for sockets that do not speak HTTP. */
  readonly guard: AddressGuard;
  private readonly limits: typeof DEFAULTS;
  private readonly userAgent: string;
  private readonly verifyingAgent: Agent;
  private readonly nonVerifyingAgent: Agent;

  constructor(options: OutboundClientOptions) {
    const { allow, userAgent, resolver, ...limits } = options;
    this.guard = new AddressGuard(allow, resolver);
    this.limits = { ...DEFAULTS, ...limits };
    this.userAgent = userAgent;
    this.verifyingAgent = createGuardedAgent(this.guard, this.limits, true);
    this.nonVerifyingAgent = createGuardedAgent(this.guard, this.limits, false);
  }

  /**
   * Sends one request.
   *
   * @throws OutboundError
   */
  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const url = parseTarget(request.url);
    const headers = this.headersOf(url, request);
    url.username = '';
    url.password = '';
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(this.limits.totalTimeoutMs);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    const agent = this.agentOf(request);
    try {
      const response = await this.follow({ url, request, headers, signal, agent });
      return { ...response, durationMs: Math.round(performance.now() - startedAt) };
    } catch (error) {
      if (signal.aborted) {
        throw new OutboundError('timeout', `${url.host}: no complete response in time.`, {
          cause: error,
        });
      }
      throw translateError(error, url.host);
    } finally {
      if (request.tls) await agent.destroy();
    }
  }

  /** Closes all connections; pending requests are aborted. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.verifyingAgent.destroy(), this.nonVerifyingAgent.destroy()]);
  }

  private async follow(first: Hop): Promise<Omit<OutboundResponse, 'durationMs'>> {
    let hop = first;
    for (let redirects = 0; ; redirects++) {
      const response = await this.exchange(hop);
      const next =
        hop.request.redirects === 'same-host'
          ? redirectTarget(response.status, response.headers.location, hop.url, hop.request.method)
          : null;
      if (!next) return response;
      if (redirects === MAX_REDIRECTS) throw new RedirectLimitError(MAX_REDIRECTS);
      hop = { ...hop, url: next };
    }
  }

  private async exchange(hop: Hop): Promise<Omit<OutboundResponse, 'durationMs'>> {
    const { statusCode, headers, body } = await hop.agent.request({
      origin: hop.url.origin,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.request.method,
      headers: hop.headers,
      body: hop.request.body ?? null,
      signal: hop.signal,
    });
    const { text, truncated } = await readBounded(body, this.limits.maxResponseBytes);
    return { status: statusCode, headers: joinRepeated(headers), body: text, truncated };
  }

  /** Returns the agent of a request. An agent with certificates is used for one call only. */
  private agentOf({ tls, verifyTls = true }: OutboundRequest): Agent {
    if (tls) return createGuardedAgent(this.guard, this.limits, verifyTls, tls);
    return verifyTls ? this.verifyingAgent : this.nonVerifyingAgent;
  }

  private headersOf(url: URL, request: OutboundRequest): Record<string, string> {
    const requestHeaders = request.headers ?? {};
    assertHeaders(requestHeaders);
    const headers = new Map([['user-agent', this.userAgent]]);
    if (url.username || url.password) headers.set('authorization', basicFromUrl(url));
    for (const [name, value] of Object.entries(requestHeaders))
      headers.set(name.toLowerCase(), value);
    return Object.fromEntries(headers);
  }
}

/** Returns the value of a Basic `Authorization` header. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

function basicFromUrl(url: URL): string {
  try {
    return basicAuthorization(decodeURIComponent(url.username), decodeURIComponent(url.password));
  } catch {
    throw new OutboundError('invalid', 'The user information of the URL is not valid.');
  }
}

function parseTarget(text: string): URL {
  if (!URL.canParse(text)) throw new OutboundError('invalid', 'The URL is not valid.');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('invalid', 'Only http and https URLs can be called.');
  }
  return url;
}

/** Reads up to `limit` bytes, and drops the connection if there are more. */
async function readBounded(
  body: Dispatcher.ResponseData['body'],
  limit: number,
): Promise<{ text: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const parts: AsyncIterable<unknown> = body;
  for await (const chunk of parts) {
    // No encoding is set, so all chunks are bytes.
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  const text = Buffer.concat(chunks).subarray(0, limit).toString('utf8');
  return { text, truncated: size > limit };
}

function joinRepeated(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
