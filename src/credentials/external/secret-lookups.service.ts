import { setTimeout as sleep } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import {
  OutboundClient,
  type OutboundRequest,
  type OutboundResponse,
} from '../../outbound/outbound-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isRetryableStatus } from '../../outbound/retry.js';
import { Settings } from '../../config/settings.js';
import { IdentityTokens } from '../identity-tokens.js';
import type { CredentialInputs, TypedInputs } from '../types/definition.js';
import { missingInputs } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import type { LookupSession } from './lookup-session.js';
import type { RefusalReason, SecretLocation, SecretReader } from './secret-store.js';
import { SECRET_STORES } from './secret-stores.js';

/** Maximum number of values fetched concurrently. */
const CONCURRENCY = 8;
/** Status of a store for a short time after a change. */
const STORE_NOT_READY = 412;

/** Credential of a secret store, with secrets in clear text. */
export interface StoreCredential extends TypedInputs {
  id: number;
}

/** Value to be fetched. */
export interface SecretRequest {
  store: StoreCredential;
  location: SecretLocation;
}

/** Request to a store, which is retried until the deadline. */
interface Attempt {
  request: OutboundRequest;
  reasonOf: RefusalReason | undefined;
  deadline: AbortSignal;
}

/** Fetches values from secret stores (docs/contract/resources.md#credential-input-sources). */
@Injectable()
export class SecretLookups {
  /** Timeouts of one call and of all calls together, and the delays before retries. */
  protected readonly limits = { callMs: 10_000, totalMs: 30_000, waitsMs: [500, 1500] };

  constructor(
    private readonly client: OutboundClient,
    private readonly settings: Settings,
    private readonly tokens: IdentityTokens,
  ) {}

  /**
   * Fetches values. A session reads each path once and logs in to each store once.
   *
   * @returns the value or the error of each request, in the order of the requests
   */
  async fetch(
    requests: readonly SecretRequest[],
    session: LookupSession,
  ): Promise<(string | LookupError)[]> {
    session.deadline = AbortSignal.timeout(this.limits.totalMs);
    const values: (string | LookupError)[] = [];
    for (let from = 0; from < requests.length; from += CONCURRENCY) {
      const batch = requests.slice(from, from + CONCURRENCY);
      values.push(
        ...(await Promise.all(
          batch.map(({ store, location }) =>
            settled(async () => this.reader(store, session).read(location)),
          ),
        )),
      );
    }
    return values;
  }

  private reader(credential: StoreCredential, session: LookupSession): SecretReader {
    const { id, type } = credential;
    return session.reader(id, () => {
      assertComplete(credential);
      const store = SECRET_STORES.get(type.namespace ?? '');
      if (!store) throw new LookupError(`Values of the type "${type.name}" cannot be fetched.`);
      return store(withDefaults(credential), {
        call: (request, reasonOf) => this.call({ request, reasonOf, deadline: session.deadline }),
        podToken: (url) => podToken(this.settings, url),
        runToken: (audience, use) => this.tokens.issue(session, audience, use),
      });
    });
  }

  private async call(attempt: Attempt): Promise<OutboundResponse> {
    for (const wait of [...this.limits.waitsMs, null]) {
      const response = await this.attempt(attempt, wait === null);
      if (response) return response;
      if (wait !== null) await sleep(wait);
    }
    throw new LookupError('There was no response.');
  }

  /** @returns null if the call can be retried */
  private async attempt(
    { request, reasonOf, deadline }: Attempt,
    isLast: boolean,
  ): Promise<OutboundResponse | null> {
    const mayRetry = !isLast && !deadline.aborted;
    try {
      const signal = AbortSignal.any([deadline, AbortSignal.timeout(this.limits.callMs)]);
      const response = await this.client.request({ redirects: 'same-host', ...request, signal });
      const { status } = response;
      if (status >= 200 && status < 300) return response;
      if (mayRetry && (status === STORE_NOT_READY || isRetryableStatus(status))) return null;
      const reason = reasonOf?.(response) ?? null;
      const text = reason === null ? `HTTP ${status}.` : `HTTP ${status}: ${reason}.`;
      throw new LookupError(text, status);
    } catch (error) {
      if (mayRetry && error instanceof OutboundError && error.retryable) return null;
      throw error;
    }
  }
}

async function settled(read: () => Promise<string>): Promise<string | LookupError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LookupError) return error;
    if (error instanceof OutboundError) return new LookupError(error.message);
    throw error;
  }
}

/** @throws LookupError naming the missing inputs that the store requires */
function assertComplete({ type, inputs }: TypedInputs): void {
  const metadata = new Set(type.inputs.metadata?.map(({ id }) => id));
  const missing = missingInputs(type, inputs).filter((id) => !metadata.has(id));
  if (missing.length > 0) {
    throw new LookupError(`The credential does not provide ${missing.join(', ')}.`);
  }
}

/** Adds the defaults of the type for inputs that are missing or empty. */
function withDefaults({ type, inputs }: TypedInputs): CredentialInputs {
  const defaults = (type.inputs.fields ?? []).flatMap(({ id, default: value }) =>
    value === undefined || (inputs[id] ?? '') !== '' ? [] : [[id, value] as const],
  );
  return { ...inputs, ...Object.fromEntries(defaults) };
}

/**
 * Returns the token of the service account of this process's pod, which proves the identity of the
 * process. Users choose the servers of stores, so only servers in the setting get the token.
 *
 * @throws LookupError
 */
async function podToken(
  {
    VAULT_KUBERNETES_AUTH_HOSTS: hosts,
    VAULT_KUBERNETES_TOKEN_FILE: file,
  }: Pick<Settings, 'VAULT_KUBERNETES_AUTH_HOSTS' | 'VAULT_KUBERNETES_TOKEN_FILE'>,
  url: string,
): Promise<string> {
  const { host } = new URL(url);
  if (!hosts.includes(host)) {
    throw new LookupError(
      `A Kubernetes role cannot be used with ${host}: the setting VAULT_KUBERNETES_AUTH_HOSTS does not name it.`,
    );
  }
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new LookupError('The token of the Kubernetes service account cannot be read.');
  }
}
