import { sign } from '../../../src/code-hosts/signature.js';
import {
  WEBHOOK_SERVICE_NAMES,
  webhookService,
  type WebhookServiceName,
} from '../../../src/code-hosts/services.js';
import type { WebhookSample } from './sample.js';
import { samplesOfA } from './service-a.js';
import { samplesOfB } from './service-b.js';
import { samplesOfC } from './service-c.js';

/** Samples of all events of the contract. */
export const WEBHOOK_SAMPLES: readonly WebhookSample[] = [
  ...samplesOfA(),
  ...samplesOfB(),
  ...samplesOfC(),
];

/** Returns the sample of one event. */
export function webhookSample(service: WebhookServiceName, event: string): WebhookSample {
  const found = WEBHOOK_SAMPLES.find((item) => item.service === service && item.event === event);
  if (!found) throw new Error(`No sample for ${service} ${event}`);
  return found;
}

/** Returns the sample of the most frequent event of a service. */
export function firstSample(service: WebhookServiceName): WebhookSample {
  return WEBHOOK_SAMPLES.find((item) => item.service === service)!;
}

export interface DeliveryOptions {
  /** Delivery id; omitted if undefined. */
  delivery?: string;
  contentType?: string;
}

/** Returns the headers of a correctly signed delivery, with the neutral header names. */
export function deliveryHeaders(
  service: WebhookServiceName,
  event: string,
  rawBody: Uint8Array,
  key: string,
  { delivery, contentType = 'application/json' }: DeliveryOptions = {},
): Record<string, string> {
  const row = webhookService(service);
  const deliveryHeader = row.deliveryHeaders.find((name) => name.startsWith('X-Service'));
  const headers: Record<string, string> = { 'Content-Type': contentType, [row.eventHeader]: event };
  if (delivery !== undefined && deliveryHeader !== undefined) headers[deliveryHeader] = delivery;
  if (row.signature.kind === 'token') return { ...headers, [row.signature.header]: key };
  const [strongest] = row.signature.headers;
  const [algorithm] = strongest?.algorithms ?? [];
  if (strongest && algorithm) headers[strongest.name] = sign(algorithm, rawBody, key);
  return headers;
}

/** Services as a table for `it.each`. */
export const SERVICE_ROWS: readonly [WebhookServiceName][] = WEBHOOK_SERVICE_NAMES.map((name) => [
  name,
]);
