import { createHash } from 'node:crypto';
import {
  DEFAULT_HEADER_ALIASES,
  headerValues,
  NO_ALIASES,
  singleHeader,
  type HeaderAliases,
  type ReceivedHeaders,
} from './headers.js';
import {
  InvalidPayload,
  isPlainText,
  parsePayload,
  textAt,
  valueAt,
  type ParsedPayload,
} from './payload.js';
import {
  eventRule,
  webhookService,
  type EventRule,
  type WebhookService,
  type WebhookServiceName,
} from './services.js';
import { isUnsignedEvent, type SignedRequest } from './signature.js';
import { statusUrl } from './status-url.js';

/** Verified webhook delivery, parsed by the rules of its service. */
export interface WebhookEvent {
  service: WebhookServiceName;
  /** Value of the event header; empty if it is missing or invalid. */
  type: string;
  /** Identity of the delivery, 1-128 characters, unique within template and service. */
  guid: string;
  /**
   * Time in seconds for which `guid` blocks repetitions; null: forever. Only digests of service B have a
   * limit.
   */
  guidWindowSeconds: number | null;
  ref: string | null;
  /** Branch or tag by name. */
  refName: string | null;
  /** Commit with the change. Differs from `ref` only if `ref` is the head of the target branch. */
  headRef: string | null;
  statusApi: string | null;
  /** Name of the pushed ref, if the push concerns only that ref. */
  pushRef: string | null;
  /** Name of the user at the service who caused the event. */
  sender: string | null;
  payload: Record<string, unknown>;
  /** Payload as received, which is stored. */
  payloadText: string;
}

const MAX_GUID_LENGTH = 128;
const MAX_TYPE_LENGTH = 128;
const MAX_SENDER_LENGTH = 256;

/**
 * Maximum length of a ref. Git rejects longer names in practice, and the column of branches has this
 * length.
 */
const MAX_REF_LENGTH = 1024;

/** Ref of all zeros, which means a deleted ref in SHA-1 and SHA-256 repositories. */
const DELETED = /^(0{40}|0{64})$/;

/**
 * Parses a delivery. Must be called only after `isVerified`. The body of an unsigned event is ignored,
 * because any sender can send it.
 *
 * @throws InvalidPayload if a verified body is compressed, or is not a JSON object within the limits
 */
export function parseEvent(
  service: WebhookServiceName,
  request: SignedRequest,
  aliases: HeaderAliases = DEFAULT_HEADER_ALIASES,
): WebhookEvent {
  const row = webhookService(service);
  const type = eventType(row, request, aliases);
  const payload = isUnsignedEvent(service, request, aliases)
    ? { text: '{}', value: {} }
    : payloadOf(request, row);
  return {
    service,
    type,
    ...deliveryIdentity(row, request, aliases),
    ...readRefs(eventRule(service, type), payload),
    sender: senderOf(row, payload),
    payload: payload.value,
    payloadText: payload.text,
  };
}

function payloadOf(request: SignedRequest, { formField }: WebhookService): ParsedPayload {
  const [encoding = 'identity'] = headerValues(request, 'Content-Encoding', NO_ALIASES);
  if (encoding.toLowerCase() !== 'identity') throw new InvalidPayload('compressed');
  return parsePayload(request.rawBody, request.headers['content-type'] ?? null, formField);
}

function eventType(row: WebhookService, received: ReceivedHeaders, aliases: HeaderAliases): string {
  const type = singleHeader(received, row.eventHeader, aliases);
  return type !== null && type.length <= MAX_TYPE_LENGTH && isPlainText(type) ? type : '';
}

/**
 * Returns the first delivery header that is present, hashed if it does not fit the column, or else
 * a digest of the body. Signatures do not cover headers, so the identity does not prevent the
 * replay of a signed body with another header. It only detects repetitions by the service.
 */
function deliveryIdentity(
  row: WebhookService,
  request: SignedRequest,
  aliases: HeaderAliases,
): Pick<WebhookEvent, 'guid' | 'guidWindowSeconds'> {
  for (const name of row.deliveryHeaders) {
    const guid = singleHeader(request, name, aliases)?.trim() ?? '';
    if (guid !== '') return { guid: toColumn(guid), guidWindowSeconds: null };
  }
  const { algorithm, windowSeconds } = row.deliveryDigest;
  const guid = createHash(algorithm).update(request.rawBody).digest('hex');
  return { guid, guidWindowSeconds: windowSeconds };
}

function toColumn(guid: string): string {
  if (guid.length <= MAX_GUID_LENGTH && isPlainText(guid)) return guid;
  return createHash('sha256').update(guid).digest('hex');
}

function readRefs(
  rule: EventRule | undefined,
  { value }: ParsedPayload,
): Pick<WebhookEvent, 'ref' | 'refName' | 'headRef' | 'statusApi' | 'pushRef'> {
  if (!rule) return { ref: null, refName: null, headRef: null, statusApi: null, pushRef: null };
  const ref = refAt(value, rule.ref);
  const refName = rule.refName === undefined ? null : refAt(value, rule.refName);
  return {
    ref,
    refName,
    headRef: rule.headRef === undefined ? ref : refAt(value, rule.headRef),
    statusApi: rule.statusUrl ? statusUrl(rule.statusUrl, value, ref) : null,
    pushRef: rule.isPush === true && isAboutOneRef(rule, value) ? refName : null,
  };
}

function senderOf({ senders }: WebhookService, { value }: ParsedPayload): string | null {
  const [name] = senders.flatMap((path) => textAt(value, path) ?? []);
  return name !== undefined && name.length <= MAX_SENDER_LENGTH ? name : null;
}

function isAboutOneRef({ changes }: EventRule, payload: Record<string, unknown>): boolean {
  if (changes === undefined) return true;
  const list = valueAt(payload, changes);
  return Array.isArray(list) && list.length === 1;
}

function refAt(payload: Record<string, unknown>, path: string): string | null {
  const ref = textAt(payload, path);
  return ref === null || ref.length > MAX_REF_LENGTH || DELETED.test(ref) ? null : ref;
}
