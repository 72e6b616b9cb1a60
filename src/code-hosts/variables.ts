import { parseExact } from '../common/exact-json.js';
import type { WebhookEvent } from './event.js';

/** Prefix of the contract, which is always provided. */
const CONTRACT_VARIABLE_PREFIX = 'svc_';

/**
 * Default of the setting `WEBHOOK_VARIABLE_PREFIXES`: the contract's prefix and two compatibility
 * prefixes.
 */
const DEFAULT_WEBHOOK_VARIABLE_PREFIXES: readonly string[] = [
  CONTRACT_VARIABLE_PREFIX,
  'awx_',
  'tower_',
];

/** Properties of an event that a delivery stores. The payload is stored once, as text. */
export type DeliveredEvent = Pick<
  WebhookEvent,
  'type' | 'guid' | 'ref' | 'refName' | 'headRef' | 'statusApi'
> & {
  /** JSON text; null if retention has deleted it; absent if it was not requested. */
  payloadText?: string | null;
};

const PREFIX_SHAPE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Prefixes of the setting `WEBHOOK_VARIABLE_PREFIXES`, without duplicates and with the contract's prefix
 * first.
 */
export class VariablePrefixes {
  readonly all: readonly string[];

  /** @throws Error naming the prefixes with which no variable name can start */
  constructor(setting: readonly string[]) {
    const faults = setting.filter((prefix) => !PREFIX_SHAPE.test(prefix));
    if (faults.length > 0) {
      throw new Error(`Not usable as webhook variable prefixes: ${JSON.stringify(faults)}`);
    }
    this.all = [...new Set([CONTRACT_VARIABLE_PREFIX, ...setting])];
  }
}

/**
 * Returns the extra variables of a launched job, each under every prefix. Missing values are null, so
 * that a playbook can test them; a payload that was not requested is absent. All prefixes share one
 * payload object, which must not be modified.
 *
 * `event_ref_name` and `event_head_ref` are additions to the contract's five variables.
 */
export function webhookVariables(
  event: DeliveredEvent,
  prefixes: readonly string[] = DEFAULT_WEBHOOK_VARIABLE_PREFIXES,
): Record<string, unknown> {
  const values: [string, unknown][] = [
    ['webhook_event_type', event.type],
    ['webhook_event_guid', event.guid],
    ['webhook_event_ref', event.ref],
    ['webhook_event_ref_name', event.refName],
    ['webhook_event_head_ref', event.headRef],
    ['webhook_status_api', event.statusApi],
  ];
  if (event.payloadText !== undefined) {
    const payload: unknown = event.payloadText === null ? null : parseExact(event.payloadText);
    values.push(['webhook_payload', payload]);
  }
  return Object.fromEntries(
    prefixes.flatMap((prefix) => values.map(([name, value]) => [`${prefix}${name}`, value])),
  );
}
