import { isRecord, mapValues } from '../common/records.js';

/** Names of products by the neutral names of the contract. */
type Names = Readonly<Record<string, string>>;

const CODE_HOSTS: Names = {
  service_a: 'github',
  service_b: 'gitlab',
  service_c_dc: 'bitbucket_dc',
};
const CHANNELS: Names = {
  chat_a: 'slack',
  chat_b: 'mattermost',
  chat_c: 'rocketchat',
  dashboard_a: 'grafana',
  incident_a: 'pagerduty',
  sms_a: 'twilio',
};
const TOKEN_NAMESPACES: Names = Object.fromEntries(
  Object.entries(CODE_HOSTS).map(([neutral, product]) => [`${neutral}_token`, `${product}_token`]),
);
const TOKEN_TYPES: Names = {
  'Service A Personal Access Token': 'GitHub Personal Access Token',
  'Service B Personal Access Token': 'GitLab Personal Access Token',
  'Service C Personal Access Token': 'Bitbucket Data Center HTTP Access Token',
};

/** Names of the values of a field, by the name of the field. */
const VALUE_NAMES: ReadonlyMap<string, Names> = new Map([
  ['webhook_service', CODE_HOSTS],
  ['service', CODE_HOSTS],
  ['notification_type', CHANNELS],
  ['namespace', TOKEN_NAMESPACES],
  ['kind', TOKEN_NAMESPACES],
  ['name', TOKEN_TYPES],
]);
/** Fields whose values clients send. The other fields are read-only or free text. */
const SENT_FIELDS = ['webhook_service', 'notification_type'];

/** Prefixes of configuration keys by channel. `keys` lists the keys with the prefix; null: all keys. */
const KEY_PREFIXES: Readonly<Record<string, { prefix: string; keys: readonly string[] | null }>> = {
  chat_b: { prefix: 'mattermost_', keys: null },
  chat_c: { prefix: 'rocketchat_', keys: null },
  dashboard_a: { prefix: 'grafana_', keys: ['url', 'key', 'no_verify_ssl'] },
};

/** Members of a response that contain fields. Other members, such as user data, stay unchanged. */
const CONTAINERS = new Set(['results', 'actions', 'GET', 'POST', 'PUT', 'changes']);
const RECEIVER =
  /^(\/api\/v2\/(?:job_templates|workflow_job_templates|projects)\/[^/]+\/)([a-z_]+)(?=\/?(?:\?|$))/i;

const toProduct = (names: Names, value: string): string =>
  Object.hasOwn(names, value) ? (names[value] ?? value) : value;

const toNeutral = (names: Names, value: string): string =>
  Object.entries(names).find(([, product]) => product === value)?.[0] ?? value;

/** Returns the URL with the neutral name of a receiver: `/api/v2/projects/1/github/` is `…/service_a/`. */
export const neutralUrl = (url: string): string =>
  url.replace(
    RECEIVER,
    (_all, path: string, name: string) => path + toNeutral(CODE_HOSTS, name.toLowerCase()),
  );

const productUrl = (url: string): string =>
  url.replace(RECEIVER, (_all, path: string, name: string) => path + toProduct(CODE_HOSTS, name));

/** Returns the value of a filter, with neutral names instead of product names. */
export function neutralFilter(key: string, value: string): string {
  const parts = key.split('__');
  const names = parts.map((part) => VALUE_NAMES.get(part)).find((found) => found !== undefined);
  if (!names) return value;
  return parts.at(-1) === 'in'
    ? value
        .split(',')
        .map((item) => toNeutral(names, item))
        .join()
    : toNeutral(names, value);
}

/** Returns a body with neutral names in its fields and in the keys of its configuration. */
export function neutralBody(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const neutral = { ...body };
  for (const field of SENT_FIELDS) {
    const value = body[field];
    if (typeof value === 'string') neutral[field] = toNeutral(VALUE_NAMES.get(field) ?? {}, value);
  }
  const configuration = body['notification_configuration'];
  if (isRecord(configuration)) {
    neutral['notification_configuration'] = mapKeys(configuration, neutralKey);
  }
  return neutral;
}

const neutralKey = (key: string): string => {
  for (const { prefix, keys } of Object.values(KEY_PREFIXES)) {
    const rest = key.startsWith(prefix) ? key.slice(prefix.length) : '';
    if (rest !== '' && (keys?.includes(rest) ?? true)) return rest;
  }
  return key;
};

/** Returns a response, or a part of the response, with the names of products. */
export function productNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(productNames);
  if (!isRecord(value)) return value;
  return mapValues(value, (member, key) => productValue(value, key, member));
}

function productValue(
  owner: Readonly<Record<string, unknown>>,
  key: string,
  member: unknown,
): unknown {
  const names = VALUE_NAMES.get(key);
  if (names) return translateValue(names, member);
  if (CONTAINERS.has(key)) return productNames(member);
  if (!isRecord(member)) return member;
  switch (key) {
    case 'summary_fields':
      return mapValues(member, productNames);
    case 'related':
      return mapValues(member, (url) => (typeof url === 'string' ? productUrl(url) : url));
    case 'notification_configuration':
      return productKeys(owner['notification_type'], member);
    case 'messages':
      return mapKeys(member, (channel) => toProduct(CHANNELS, channel));
    default:
      return member;
  }
}

/** Translates a value, the values of a list, or the choices in the description of a field. */
function translateValue(names: Names, value: unknown): unknown {
  if (typeof value === 'string') return toProduct(names, value);
  if (Array.isArray(value)) return value.map((item) => translateValue(names, item));
  return isRecord(value) && 'choices' in value
    ? { ...value, choices: translateValue(names, value['choices']) }
    : value;
}

/** Translates the keys of a configuration, or the description of the keys of every channel. */
const productKeys = (channel: unknown, member: Readonly<Record<string, unknown>>): unknown =>
  typeof channel === 'string'
    ? mapKeys(member, (key) => productKey(channel, key))
    : mapKeys(
        mapValues(member, (keys, name) =>
          isRecord(keys) ? mapKeys(keys, (key) => productKey(name, key)) : keys,
        ),
        (name) => toProduct(CHANNELS, name),
      );

function productKey(channel: string, key: string): string {
  const rule = Object.hasOwn(KEY_PREFIXES, channel) ? KEY_PREFIXES[channel] : undefined;
  return rule && (rule.keys?.includes(key) ?? true) ? rule.prefix + key : key;
}

const mapKeys = (
  record: Readonly<Record<string, unknown>>,
  keyOf: (key: string) => string,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [keyOf(key), value]));
