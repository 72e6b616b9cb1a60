import { createHmac } from 'node:crypto';
import { constantTimeEqual } from '../common/crypto/constant-time.js';
import {
  DEFAULT_HEADER_ALIASES,
  headerValues,
  singleHeader,
  type HeaderAliases,
  type ReceivedHeaders,
} from './headers.js';
import { webhookService, type WebhookServiceName } from './services.js';

export type SignatureAlgorithm = 'sha1' | 'sha256';

/** Header with `<algorithm>=<hex>` over the raw body, and its permitted algorithms. */
export interface SignatureHeader {
  name: string;
  algorithms: readonly [SignatureAlgorithm, ...SignatureAlgorithm[]];
}

/**
 * Proof that a service knows the webhook key: one or more HMAC headers (at least one must be present, and
 * all present ones must be valid), or the key itself.
 */
export type SignatureRule =
  { kind: 'hmac'; headers: readonly SignatureHeader[] } | { kind: 'token'; header: string };

/** Request as received. Nothing is parsed before verification. */
export interface SignedRequest extends ReceivedHeaders {
  rawBody: Uint8Array;
}

const HEX_LENGTH: Record<SignatureAlgorithm, number> = { sha1: 40, sha256: 64 };
const HEX = /^[0-9a-fA-F]+$/;

/** Maximum length of a header value; keys have at most 64 characters, signatures 71. */
const MAX_VALUE_LENGTH = 256;

/**
 * Returns true if a request proves knowledge of the template's webhook key, or is an unsigned event.
 * Never throws: missing, repeated, malformed or too long values are not verified, and an empty key
 * verifies nothing. The body is hashed even for malformed signatures, so that all refusals take the same
 * time.
 *
 * Unsigned events (service C's connection test) must not be parsed or launch anything: see `parseEvent`.
 */
export function isVerified(
  service: WebhookServiceName,
  request: SignedRequest,
  key: string,
  aliases: HeaderAliases = DEFAULT_HEADER_ALIASES,
): boolean {
  const { signature } = webhookService(service);
  if (key === '' || !(request.rawBody instanceof Uint8Array)) return false;
  if (isUnsignedEvent(service, request, aliases)) return true;
  return signature.kind === 'token'
    ? hasToken(headerValues(request, signature.header, aliases), key)
    : hasSignatures(signature.headers, request, key, aliases);
}

/** Returns true if the request is an event that its service sends without a signature. */
export function isUnsignedEvent(
  service: WebhookServiceName,
  received: ReceivedHeaders,
  aliases: HeaderAliases = DEFAULT_HEADER_ALIASES,
): boolean {
  const { eventHeader, unsignedEvents } = webhookService(service);
  const event = singleHeader(received, eventHeader, aliases);
  return event !== null && unsignedEvents.includes(event);
}

/**
 * Returns the header value that signs a body, for clients and demonstrations.
 */
export function sign(algorithm: SignatureAlgorithm, rawBody: Uint8Array, key: string): string {
  return `${algorithm}=${createHmac(algorithm, key).update(rawBody).digest('hex')}`;
}

function hasToken([token = '', ...more]: readonly string[], key: string): boolean {
  const received = more.length > 0 || token.length > MAX_VALUE_LENGTH ? '' : token;
  // Node decodes header bytes as Latin-1; encoding as Latin-1 restores the bytes.
  return constantTimeEqual(Buffer.from(received, 'latin1'), key);
}

function hasSignatures(
  headers: readonly SignatureHeader[],
  request: SignedRequest,
  key: string,
  aliases: HeaderAliases,
): boolean {
  const all = headers.map((header) => ({
    header,
    values: headerValues(request, header.name, aliases),
  }));
  const present = all.filter(({ values }) => values.length > 0);
  const proofs = present.length > 0 ? present : all.slice(0, 1);
  return proofs
    .map(({ header, values }) => hasSignature(header, values, request, key))
    .every((isValid) => isValid);
}

function hasSignature(
  { algorithms }: SignatureHeader,
  [value = '', ...more]: readonly string[],
  { rawBody }: SignedRequest,
  key: string,
): boolean {
  const algorithmName = algorithms.find((name) => value.startsWith(`${name}=`));
  const algorithm = algorithmName ?? algorithms[0];
  const hex = value.slice(algorithm.length + 1);
  const isWellFormed =
    algorithmName !== undefined &&
    more.length === 0 &&
    hex.length === HEX_LENGTH[algorithm] &&
    HEX.test(hex);
  const expected = createHmac(algorithm, key).update(rawBody).digest();
  const isEqual = constantTimeEqual(Buffer.from(isWellFormed ? hex : '', 'hex'), expected);
  return isWellFormed && isEqual;
}
