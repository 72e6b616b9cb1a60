import { variablesText } from '../common/fields/json-text.js';
import { parseVariables } from '../common/fields/variables.js';
import type { RepresentContext, Row } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import {
  DEFAULT_WEBHOOK_VARIABLE_PREFIXES,
  variablePrefixes,
  webhookVariables,
} from '../code-hosts/variables.js';

/** Help text of `extra_vars`. */
export const VARIABLES_HELP =
  'JSON with ", " and ": " between members; secret answers masked. Lists leave out the payload of the ' +
  'webhook that launched the run (svc_webhook_payload and so on); the run itself shows it.';

let prefixes = DEFAULT_WEBHOOK_VARIABLE_PREFIXES;

/** Representations are built without injection; the module hands the setting over at its start. */
export function showWebhookVariablesAs(setting: readonly string[]): void {
  prefixes = variablePrefixes(setting);
}

interface DeliveryRow extends Row {
  run_id: number;
  event: string;
  guid: string;
  ref: string | null;
  ref_name: string | null;
  head_ref: string | null;
  status_api: string | null;
  payload: string | null;
}

/**
 * `extra_vars` of runs as JSON text, by run. Those of a webhook stand in its delivery. A payload may have
 * 25 MB and stands under every prefix: lists do without these variables, only the detail shows them.
 */
export async function shownVariables(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, string>> {
  const deliveries = await loadDeliveries(rows, context);
  return new Map(
    rows.map((row) => {
      const own = parseVariables(String(row.extra_vars ?? ''));
      const delivery = deliveries.get(row.id);
      const event = delivery ? variablesOf(delivery, context.detail) : {};
      return [row.id, variablesText({ ...own, ...event })];
    }),
  );
}

function variablesOf(delivery: DeliveryRow, withPayload: boolean): Record<string, unknown> {
  const { event: type, guid, ref, ref_name, head_ref, status_api, payload } = delivery;
  return webhookVariables(
    {
      type,
      guid,
      ref,
      refName: ref_name,
      headRef: head_ref,
      statusApi: status_api,
      ...(withPayload ? { payloadText: payload } : {}),
    },
    prefixes,
  );
}

/** Besides what an event launched itself, the runs of a workflow may have been caused by one. */
const mayHaveDelivery = ({ webhook_guid: guid, launch_type: type }: Row): boolean =>
  type === 'workflow' || (guid !== '' && guid !== null);

async function loadDeliveries(
  rows: readonly Row[],
  { database, detail }: RepresentContext,
): Promise<Map<number, DeliveryRow>> {
  const asked = rows.filter(mayHaveDelivery);
  if (asked.length === 0) return new Map();
  const found = await database.preparedRows<DeliveryRow>(sql`
    SELECT run.id AS run_id, d.id, d.event, d.guid, d.ref, d.ref_name, d.head_ref, d.status_api,
      CASE WHEN ${detail} THEN d.payload END AS payload
    FROM unified_jobs run JOIN webhook_deliveries d ON d.id = run.webhook_delivery_id
    WHERE run.id = ANY(${asked.map(({ id }) => id)}::int[])`);
  return new Map(found.map((row) => [row.run_id, row]));
}
