import { parseExact } from '../common/exact-json.js';
import { anyValue } from '../common/fields/json-schema.js';
import { extendEach, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { redeliverable } from './webhook-deliveries.repository.js';

export const WEBHOOK_DELIVERY_SHOWS: ShownMembers = {
  fields: { payload: anyValue('JSON as received; only for administrators of the template.') },
  optional: ['payload'],
  related: ['redeliver'],
};

/**
 * Adds the URL for redelivery, and the payload. Only the detail shows the payload, and only to administrators
 * of the template: the payload can contain data that the service shows only to members of its project.
 */
export async function webhookDeliveryExtension(
  rows: readonly Row[],
  { detail, database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const permitted = rows.filter((row) => row.can_redeliver === true).map(({ id }) => id);
  const found = await database.rows<{ id: number }>(redeliverable(permitted));
  const redeliverableIds = new Set(found.map(({ id }) => id));
  return extendEach(rows, (row) => {
    const redeliver = `/api/v2/webhook_deliveries/${row.id}/redeliver/`;
    const mayRedeliver = redeliverableIds.has(row.id);
    const extension: Extension = {
      ...(mayRedeliver ? { related: { redeliver } } : {}),
      summary_fields: { user_capabilities: { redeliver: mayRedeliver } },
    };
    const fields = detail && row.can_redeliver ? { payload: toValue(row.payload) } : {};
    return { ...extension, fields };
  });
}

const toValue = (payload: unknown): unknown =>
  typeof payload === 'string' ? parseExact(payload) : null;
