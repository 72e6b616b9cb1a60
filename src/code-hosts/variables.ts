import { parseExact } from '../common/exact-json.js';

/** Prefix of the contract, which is always provided. */
const CONTRACT_VARIABLE_PREFIX = 'svc_';

/** Properties of an event that a delivery stores. The payload is stored once, as text. */
export interface DeliveredEvent {
  event: string;
  guid: string;
  ref: string | null;
  ref_name: string | null;
  head_ref: string | null;
  status_api: string | null;
  /** JSON text; null if retention has deleted it; absent if it was not requested. */
  payload?: string | null;
}

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
  delivery: DeliveredEvent,
  prefixes: readonly string[],
): Record<string, unknown> {
  const values: [string, unknown][] = [
    ['webhook_event_type', delivery.event],
    ['webhook_event_guid', delivery.guid],
    ['webhook_event_ref', delivery.ref],
    ['webhook_event_ref_name', delivery.ref_name],
    ['webhook_event_head_ref', delivery.head_ref],
    ['webhook_status_api', delivery.status_api],
  ];
  const { payload } = delivery;
  if (payload !== undefined) {
    values.push(['webhook_payload', payload === null ? null : parseExact(payload)]);
  }
  return Object.fromEntries(
    prefixes.flatMap((prefix) => values.map(([name, value]) => [`${prefix}${name}`, value])),
  );
}
