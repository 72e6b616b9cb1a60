import { tooLong } from '../../common/fields/fault-texts.js';
import { ENCRYPTED, MAX_URL_LENGTH } from '../../common/fields/text.js';
import { hasLineBreak } from '../../outbound/header-check.js';
import { maskUrl } from '../../outbound/mask.js';
import { bareRecord, isRecord, mapValues } from '../../common/records.js';
import type { Configuration, ConfigurationField, FieldType } from './backend.js';
import { configuredHeaders } from './configuration-values.js';
import type { NotificationType } from './notification-type.js';
import { backendFor } from './registry.js';

/** Pattern of header names whose value is usually a credential. */
const SECRET_HEADER = /auth|token|secret|key|cookie|pass|credential|jwt|signature|session/i;

export interface ValidatedConfiguration {
  /** The configuration to store, with defaults, restored secrets, and all values in plain text. */
  readonly configuration: Record<string, unknown>;
  /** Contract texts for `{"__all__": [...]}`; empty for a valid configuration. */
  readonly errors: readonly string[];
}

export interface ValidationOptions {
  /** True if stored secrets can be sent to a new destination. */
  readonly mayRedirect?: boolean;
}

/**
 * Validates a `notification_configuration` (docs/contract/notifications.md#configuration): reports
 * all errors together, checks types strictly, sets declared defaults and keeps unknown keys.
 * `previous` is the stored configuration with decrypted secrets. A secret sent as `$encrypted$`
 * keeps its stored value. `$encrypted$` is rejected without a stored value (creation, change of
 * type), because it would be stored as the secret itself, and if the stored secret would be sent to
 * a new destination.
 */
export function validateConfiguration(
  type: NotificationType,
  input: Readonly<Record<string, unknown>>,
  previous: Configuration | null = null,
  { mayRedirect = false }: ValidationOptions = {},
): ValidatedConfiguration {
  const { fields, check } = backendFor(type);
  const changed = previous === null || mayRedirect ? [] : redirectingKeys(type, input, previous);
  const restored = restoreSecrets(type, input, previous, changed);
  const configuration = restored.configuration;
  const errors = [...restored.errors];
  const missing: string[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const value = configuration[key];
    if (value === undefined) {
      if (field.default !== undefined) configuration[key] = field.default;
      else if (!field.optional) missing.push(key);
    } else {
      errors.push(...errorsOf(key, field, value));
    }
  }
  if (missing.length > 0) {
    const names = missing.map((name) => `'${name}'`).join(', ');
    errors.unshift(`Missing required fields for Notification Configuration: [${names}].`);
  }
  if (errors.length === 0 && check) errors.push(...check(configuration));
  return { configuration: { ...configuration }, errors };
}

const EMPTY_VALUE: Readonly<Record<FieldType, unknown>> = {
  string: '',
  password: '',
  int: 0,
  bool: false,
  list: [],
  object: {},
};

/** Returns every key of a channel with its default, or an empty value. */
export function blankConfiguration(type: NotificationType): Record<string, unknown> {
  return mapValues(
    backendFor(type).fields,
    (field) => field.default ?? EMPTY_VALUE[field.accepts ?? field.type],
  );
}

/** Returns the keys that are shown as `$encrypted$`: keys declared as passwords. */
export function secretKeys(type: NotificationType): string[] {
  return keysWhere(type, (field) => field.type === 'password');
}

/**
 * Returns the keys whose value is encrypted at rest: passwords, URLs (their path can be a credential)
 * and webhook headers.
 */
export function encryptedKeys(type: NotificationType): string[] {
  return keysWhere(
    type,
    (field, key) =>
      field.type === 'password' || field.url === true || (type === 'webhook' && key === 'headers'),
  );
}

/**
 * Returns the configuration as the API shows it. Passwords, and values of headers with names of
 * credentials, are shown as `$encrypted$`. `url` stays readable to users who can change it: the
 * contract declares it a plain string that clients compare and send back. It is encrypted at rest,
 * masked in every record, and masked for other readers by `maskForReaders`.
 */
export function maskConfiguration(
  type: NotificationType,
  configuration: Configuration,
): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...configuration };
  for (const key of secretKeys(type)) {
    if (shown[key] !== undefined && shown[key] !== '') shown[key] = ENCRYPTED;
  }
  if (type === 'webhook' && isRecord(shown.headers)) {
    shown.headers = mapValues(shown.headers, (value, name) =>
      SECRET_HEADER.test(name) && value !== '' ? ENCRYPTED : value,
    );
  }
  return shown;
}

/**
 * Returns the configuration with masked secret parts of its URLs and masked headers, for readers who
 * cannot change it.
 */
export function maskForReaders(
  type: NotificationType,
  configuration: Configuration,
): Record<string, unknown> {
  const urls = new Set(keysWhere(type, (field) => field.url === true));
  return mapValues(configuration, (value, key) => {
    if (type === 'webhook' && key === 'headers' && isRecord(value)) {
      return mapValues(value, (text) => (text === '' ? '' : ENCRYPTED));
    }
    return urls.has(key) && typeof value === 'string' && value !== ENCRYPTED
      ? maskUrl(value)
      : value;
  });
}

/**
 * Returns the recipients as records show them (docs/contract/notifications.md#records): a JSON
 * array for lists, otherwise plain text, with masked secret parts of URLs.
 */
export function recipientsOf(type: NotificationType, configuration: Configuration): string {
  const { fields, recipientKey } = backendFor(type);
  const value = configuration[recipientKey];
  if (typeof value !== 'string') return JSON.stringify(value ?? []);
  return fields[recipientKey]?.url ? maskUrl(value) : value;
}

function restoreSecrets(
  type: NotificationType,
  input: Readonly<Record<string, unknown>>,
  previous: Configuration | null,
  changed: readonly string[],
): ValidatedConfiguration {
  const configuration = bareRecord<unknown>();
  Object.assign(configuration, input);
  const errors: string[] = [];
  const keep = (key: string, value: unknown): unknown => {
    if (value === undefined) errors.push(noStoredValueError(key));
    else if (changed.length > 0) errors.push(destinationChangeError(key, changed));
    return value ?? ENCRYPTED;
  };
  for (const key of secretKeys(type)) {
    if (configuration[key] !== ENCRYPTED) continue;
    configuration[key] = keep(key, previous?.[key]);
  }
  if (type === 'webhook' && isRecord(configuration.headers)) {
    const headers = isRecord(previous?.headers) ? previous.headers : {};
    const stored = new Map(Object.entries(headers));
    configuration.headers = mapValues(configuration.headers, (value, name) =>
      value === ENCRYPTED ? keep(`headers.${name}`, stored.get(name)) : value,
    );
  }
  return { configuration, errors };
}

/**
 * Returns the keys whose change sends stored secrets to a new destination; an absent key has its
 * default.
 */
function redirectingKeys(
  type: NotificationType,
  configuration: Configuration,
  previous: Configuration,
): string[] {
  const { fields } = backendFor(type);
  const changed = Object.entries(fields).flatMap(([key, field]) => {
    if (field.url !== true && field.peer !== true) return [];
    const absent = field.default ?? EMPTY_VALUE[field.type];
    return (configuration[key] ?? absent) === (previous[key] ?? absent) ? [] : [key];
  });
  return hostHeaderOf(configuration) === hostHeaderOf(previous) ? changed : [...changed, 'headers'];
}

/** Returns the `Host` header, by which a server selects one of its sites; empty if absent. */
const hostHeaderOf = (configuration: Configuration): string =>
  Object.entries(configuredHeaders(configuration))
    .filter(([name]) => name.toLowerCase() === 'host')
    .map(([, value]) => value)
    .join();

function destinationChangeError(key: string, changed: readonly string[]): string {
  const names = changed.map((name) => `'${name}'`).join(', ');
  return `Configuration field '${key}' must be entered again: ${names} decides where it is sent.`;
}

function noStoredValueError(key: string): string {
  return `Configuration field '${key}' cannot be ${ENCRYPTED}: there is no stored value to keep.`;
}

function errorsOf(key: string, field: ConfigurationField, value: unknown): string[] {
  if (!hasType(value, field.type) && !(field.accepts && hasType(value, field.accepts))) {
    return [`Configuration field '${key}' incorrect type, expected ${field.type}.`];
  }
  const texts = textsIn(value);
  if (!texts.every((text) => typeof text === 'string')) {
    return [`Configuration field '${key}' incorrect type, expected ${field.type} of strings.`];
  }
  const errors: string[] = [];
  if (Array.isArray(value) && value.length === 0 && !field.optional) {
    errors.push(`No values specified for field '${key}'`);
  }
  if (texts.some((text) => hasLineBreak(text))) {
    errors.push(`Configuration field '${key}' must not contain line breaks.`);
  }
  if (typeof value === 'number') errors.push(...rangeErrors(key, field, value));
  if (field.url && typeof value === 'string') {
    if (value.length > MAX_URL_LENGTH) {
      errors.push(`Configuration field '${key}': ${tooLong(MAX_URL_LENGTH)}`);
    } else if (!isHttpUrl(value)) {
      errors.push(`Configuration field '${key}' must be an http or https URL.`);
    }
  }
  return errors;
}

function rangeErrors(key: string, { min, max }: ConfigurationField, value: number): string[] {
  if (min === undefined || max === undefined || (value >= min && value <= max)) return [];
  return [`Configuration field '${key}' must be between ${min} and ${max}.`];
}

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'string':
    case 'password':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
  }
}

/** Returns the texts that a protocol can send: the value, its items, or its member values. */
function textsIn(value: unknown): unknown[] {
  if (typeof value === 'string' || Array.isArray(value)) return [value].flat();
  return isRecord(value) ? Object.values(value) : [];
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function keysWhere(
  type: NotificationType,
  matches: (field: ConfigurationField, key: string) => boolean,
): string[] {
  return Object.entries(backendFor(type).fields).flatMap(([key, field]) =>
    matches(field, key) ? [key] : [],
  );
}
