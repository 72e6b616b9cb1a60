import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from '../access.js';

/** What belongs to one request (or one worker step) and is needed far from the handler. */
export interface RequestScope {
  actor: Actor | null;
  requestId: string;
  sourceIp: string;
  /** The token it came with may only read. */
  isReadOnly?: boolean;
  /** Digest of the browser session the request came with. */
  sessionDigest?: string;
  /** Digest of the token the request came with. */
  tokenDigest?: string;
  /** The object of the URL; `judge` asks again whether the caller may do this to it. */
  target?: { type: string; id: number; judge: () => Promise<unknown> };
  /** Value of the session cookie where its age began anew with this request. */
  renewedSession?: string;
}

const scopes = new AsyncLocalStorage<RequestScope>();

export const runInScope = <T>(scope: RequestScope, work: () => T): T => scopes.run(scope, work);

/** The scope of the running request, or undefined in background work. */
export const currentScope = (): RequestScope | undefined => scopes.getStore();

export const currentActor = (): Actor | null => scopes.getStore()?.actor ?? null;
