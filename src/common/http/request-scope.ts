import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from '../access.js';

/** State of one request that code outside of its handler needs. */
export interface RequestScope {
  actor: Actor | null;
  requestId: string;
  sourceIp: string;
  /** True if the request's token is read-only. */
  isReadOnly?: boolean;
  /** True if an application sent the request with a token of a user. */
  isApplication?: boolean;
  /** Digest of the browser session of the request. */
  sessionDigest?: string;
  tokenDigest?: string;
  /** Object of the URL. `authorize` checks the request on the object again. */
  target?: { type: string; id: number; authorize: () => Promise<unknown> };
  /** Value of the session cookie, if this request renewed the session. */
  renewedSession?: string;
}

const scopes = new AsyncLocalStorage<RequestScope>();

export const runInScope = <T>(scope: RequestScope, work: () => T): T => scopes.run(scope, work);

/** Returns the scope of the current request, or undefined in background work. */
export const currentScope = (): RequestScope | undefined => scopes.getStore();

export const currentActor = (): Actor | null => scopes.getStore()?.actor ?? null;
