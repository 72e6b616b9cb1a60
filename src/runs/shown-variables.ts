import { variablesText } from '../common/fields/json-text.js';
import { parseVariables } from '../common/fields/variables.js';
import type { Row } from '../common/resource/define-resource.js';
import type { RepresentContext } from '../common/resource/extension.js';
import { VariablePrefixes, webhookVariables } from '../code-hosts/variables.js';
import { type RunDelivery, RunDeliveries } from './run-causes.js';

export const VARIABLES_HELP =
  'JSON with ", " and ": " between members; secret answers masked. Lists leave out the payload of the ' +
  'webhook that launched the run (svc_webhook_payload and so on); the run itself shows it to those ' +
  'who administer the template.';

/**
 * Returns `extra_vars` of runs as JSON text, by run. Variables of a webhook come from its delivery.
 * A payload can have 25 MB and is repeated under every prefix, so lists leave these variables out.
 * Only the detail contains them, and only for users with permission to see the payload
 * (docs/contract/webhooks.md#variables).
 */
export async function shownVariables(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, string>> {
  const deliveries = await loadDeliveries(rows, context);
  const prefixes = context.find(VariablePrefixes);
  return new Map(
    rows.map((row) => {
      const own = parseVariables(String(row.extra_vars ?? ''));
      const delivery = deliveries.get(row.id);
      const all = delivery ? { ...own, ...variablesOf(delivery, prefixes.all) } : own;
      return [row.id, variablesText(all)];
    }),
  );
}

function variablesOf(delivery: RunDelivery, prefixes: readonly string[]): Record<string, unknown> {
  const { event: type, guid, ref, ref_name, head_ref, status_api, may_see, payload } = delivery;
  return webhookVariables(
    {
      type,
      guid,
      ref,
      refName: ref_name,
      headRef: head_ref,
      statusApi: status_api,
      ...(may_see ? { payloadText: payload } : {}),
    },
    prefixes,
  );
}

/**
 * Returns true if the run can have a delivery: a webhook launched it, or a workflow that a webhook
 * can have launched.
 */
const mayHaveDelivery = ({ webhook_guid: guid, launch_type: type }: Row): boolean =>
  type === 'workflow' || (guid !== '' && guid !== null);

async function loadDeliveries(
  rows: readonly Row[],
  { find, detail, actor }: RepresentContext,
): Promise<Map<number, RunDelivery>> {
  const asked = rows.filter(mayHaveDelivery);
  if (asked.length === 0) return new Map();
  const found = await find(RunDeliveries).ofRuns(
    asked.map(({ id }) => id),
    detail ? actor : null,
  );
  return new Map(found.map((row) => [row.run_id, row]));
}
