import { parseExact } from '../common/exact-json.js';
import { anyValue } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';

export const WEBHOOK_DELIVERY_SHOWS: ShownBesides = {
  fields: { payload: anyValue('The JSON as it came, for those who administer the template.') },
  optional: ['payload'],
  related: ['redeliver'],
};

/**
 * The payload, on the detail and for those who administer the template only: it may hold what the
 * service shows to members of its project alone.
 */
export async function webhookDeliveryExtension(
  rows: readonly Row[],
  { detail }: RepresentContext,
): Promise<Map<number, Extension>> {
  return new Map(
    rows.map((row) => {
      const redeliver = `/api/v2/webhook_deliveries/${row.id}/redeliver/`;
      const extension: Extension = row.can_redeliver ? { related: { redeliver } } : {};
      const fields = detail && row.can_redeliver ? { payload: toValue(row.payload) } : {};
      return [row.id, { ...extension, fields }];
    }),
  );
}

const toValue = (payload: unknown): unknown =>
  typeof payload === 'string' ? parseExact(payload) : null;
