import { ExactNumber } from '../common/exact-json.js';
import { isStorable } from '../common/fields/text.js';
import type { WebhookEvent } from './event.js';
import { isPlainText, textAt } from './payload.js';
import { matchesRef } from './ref-glob.js';
import { WEBHOOK_SERVICE_NAMES, webhookService } from './services.js';
import { isOneOf, isRecord } from '../common/records.js';

type Scalar = string | number | boolean | null;

/**
 * Conditions on the events that launch a template (docs/contract/webhooks.md#filters). All parts
 * are optional; all present parts must match. Without filters, every event of the contract's table
 * launches.
 */
export interface WebhookFilters {
  events?: readonly string[];
  /** Actions of an event, such as `opened`. Events of services without actions never match. */
  actions?: readonly string[];
  /** Patterns of branch or tag names; see `matchesRef`. Events without a branch or tag never match. */
  refs?: readonly string[];
  /**
   * JSON pointers (RFC 6901) into the payload, each with the expected value or a list of accepted values.
   */
  equals?: Readonly<Record<string, Scalar | readonly Scalar[]>>;
}

/** Properties of an event that filters use. */
export type FilteredEvent = Pick<WebhookEvent, 'service' | 'type' | 'refName' | 'payload'>;

/** Error of `parseWebhookFilters`. `faults` are messages for the field `webhook_filters`. */
export class InvalidFilters extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`Invalid webhook filters: ${faults.join(' ')}`);
    this.name = 'InvalidFilters';
  }
}

const LISTS = ['events', 'actions', 'refs'] as const;
const KEYS = [...LISTS, 'equals'] as const;
const MAX_ENTRIES = 50;
const MAX_TEXT_LENGTH = 256;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;

const EVENTS: ReadonlySet<string> = new Set(
  WEBHOOK_SERVICE_NAMES.flatMap((name) => Object.keys(webhookService(name).events)),
);

/** Returns all errors of a value of `webhook_filters`; empty if the value is valid. */
export function webhookFilterFaults(value: unknown): string[] {
  if (!isRecord(value)) return ['Webhook filters must be an object.'];
  const unknown = Object.keys(value).filter((key) => !isOneOf(KEYS, key));
  return [
    ...unknown.map((key) => `"${key}" is not a filter. The filters are ${KEYS.join(', ')}.`),
    ...LISTS.flatMap((key) => listFaults(key, value[key])),
    ...eventFaults(value.events),
    ...equalsFaults(value.equals),
  ];
}

/** @throws InvalidFilters */
export function parseWebhookFilters(value: unknown): WebhookFilters {
  const faults = webhookFilterFaults(value);
  if (faults.length > 0) throw new InvalidFilters(faults);
  return value as WebhookFilters;
}

/** Returns the reason, as a sentence, why an event does not match; null if the event launches. */
export function filterMismatch(filters: WebhookFilters, event: FilteredEvent): string | null {
  const { events = [], actions = [], refs = [], equals = {} } = filters;
  if (events.length > 0 && !events.includes(event.type)) {
    return `The event ${event.type} is not among the template's events.`;
  }
  if (actions.length > 0) {
    const { action: path } = webhookService(event.service);
    const action = path === null ? null : textAt(event.payload, path);
    if (action === null) return 'The event has no action.';
    if (!actions.includes(action)) {
      return `The action ${action} is not among the template's actions.`;
    }
  }
  if (refs.length > 0) {
    const name = event.refName;
    if (name === null) return 'The event names no branch or tag.';
    if (!refs.some((pattern) => matchesRef(pattern, name))) {
      return `${name} matches none of the template's refs.`;
    }
  }
  for (const [pointer, expected] of Object.entries(equals)) {
    const value = withoutNotation(valueAtPointer(event.payload, pointer));
    // Compared by identity: objects and lists in the payload never equal a scalar.
    if (![expected].flat().some((candidate) => withoutNotation(candidate) === value)) {
      return `The value at ${pointer} is not among the template's values.`;
    }
  }
  return null;
}

/** Returns the value at an RFC 6901 pointer, or undefined. Only own properties count. */
export function valueAtPointer(value: unknown, pointer: string): unknown {
  let node = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    if (Array.isArray(node) && !/^\d+$/.test(key)) return undefined;
    node = Reflect.get(node, key);
  }
  return node;
}

function listFaults(key: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [`"${key}" must be a list of texts.`];
  if (value.length > MAX_ENTRIES) return [`"${key}" has more than ${MAX_ENTRIES} entries.`];
  const isValid = value.every(
    (entry) => typeof entry === 'string' && entry.length <= MAX_TEXT_LENGTH && isPlainText(entry),
  );
  return isValid ? [] : [`"${key}" must hold texts of 1 to ${MAX_TEXT_LENGTH} characters.`];
}

function eventFaults(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((event) => typeof event === 'string' && event !== '' && !EVENTS.has(event))
    .map((event) => `"${event}" is not an event that launches jobs.`);
}

function equalsFaults(value: unknown): string[] {
  if (value === undefined) return [];
  if (!isRecord(value)) return ['"equals" must be an object of JSON pointers and values.'];
  const entries = Object.entries(value);
  if (entries.length > MAX_ENTRIES) return [`"equals" has more than ${MAX_ENTRIES} entries.`];
  return entries.flatMap(([pointer, expected]) => {
    if (pointer.length > MAX_TEXT_LENGTH || !POINTER.test(pointer) || !isStorable(pointer)) {
      return [`"${pointer}" is not a JSON pointer, such as "/repository/full_name".`];
    }
    const accepted = Array.isArray(expected) ? expected : [expected];
    const isValid = accepted.length <= MAX_ENTRIES && accepted.every(isScalar);
    return isValid
      ? []
      : [`The value for "${pointer}" must be a text, number, boolean or null, or a list of these.`];
  });
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_TEXT_LENGTH && isStorable(value);
  return value === null || ['number', 'boolean'].includes(typeof withoutNotation(value));
}

/** Returns the number of a value such as `1.0`, which is equal to `1`, and other values unchanged. */
const withoutNotation = (value: unknown): unknown =>
  value instanceof ExactNumber ? value.valueOf() : value;
