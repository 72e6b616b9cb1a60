import type { OutboundRequest, OutboundResponse } from '../../common/outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';

/** Location of one secret in a store: the `metadata` of an input source. */
export type SecretPlace = Readonly<Record<string, string>>;

/** Reads secrets from one store with one credential. Repeated reads are cached. */
export interface SecretReader {
  /** @throws LookupError, OutboundError */
  read(place: SecretPlace): Promise<string>;
  /**
   * Ends the logins.
   *
   * @throws LookupError, OutboundError
   */
  close?(): Promise<void>;
}

/**
 * Sends one request.
 *
 * @returns a 2xx response
 * @throws LookupError for other responses, OutboundError
 */
export type StoreCall = (
  request: OutboundRequest,
  reasonOf?: RefusalReason,
) => Promise<OutboundResponse>;

/** Returns the reason in a refusal, one of a fixed list; null if it has none of them. */
export type RefusalReason = (answer: OutboundResponse) => string | null;

/** Means with which a store is called and logged in to. */
export interface StoreContext {
  call: StoreCall;
  /**
   * Returns the token of the service account of the worker's pod, for one server.
   *
   * @throws LookupError if the server may not have it
   */
  podToken: (url: string) => Promise<string>;
  /** Returns a token that identifies the run to one audience, for a login or for the whole run. */
  runToken: (audience: string, use: 'login' | 'run') => Promise<string>;
}

/**
 * Creates the reader of one type of store.
 *
 * @param inputs inputs of the store's credential, with secrets in clear text
 */
export type SecretStore = (inputs: CredentialInputs, context: StoreContext) => SecretReader;
