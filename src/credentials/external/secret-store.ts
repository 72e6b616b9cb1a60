import type { OutboundRequest, OutboundResponse } from '../../common/outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';

/** What names one secret of a store: the `metadata` of an input source. */
export type SecretPlace = Readonly<Record<string, string>>;

/** Reads secrets of one store with one credential; what is asked twice is fetched once. */
export interface SecretReader {
  /** @throws LookupError, OutboundError */
  read(place: SecretPlace): Promise<string>;
}

/** Sends one request. @returns a 2xx answer @throws LookupError for others, OutboundError */
export type StoreCall = (request: OutboundRequest) => Promise<OutboundResponse>;

/** How one kind of store is read. @param inputs of its credential, secrets in clear */
export type SecretStore = (inputs: CredentialInputs, call: StoreCall) => SecretReader;
