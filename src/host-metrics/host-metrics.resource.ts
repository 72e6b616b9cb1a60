import { superusersOnly } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { defineResource, extendEach, type Row } from '../common/resource/define-resource.js';
import type { Extension } from '../common/resource/extension.js';
import { HostMetricHooks } from './host-metric.hooks.js';
import { HostMetric, MonthlyHostMetric } from './host-metric.entity.js';

/**
 * Returns an extension with constant values, for fields that clients expect but the product does not
 * support.
 */
const constant =
  (fields: Readonly<Record<string, unknown>>) =>
  async (rows: readonly Row[]): Promise<Map<number, Extension>> =>
    extendEach(rows, () => ({ fields }));

// The rows contain host names of every organization: superusers and auditors read, superusers delete.
const OPERATORS_ONLY = {
  read: superusersOnly,
  listRefusal: 'You do not have permission to perform this action.',
};

// Jobs write these rows, and each row records its deletion, so the activity stream records no changes.
const COMMON = { audited: false, capabilities: {} } as const;

export const hostMetrics = defineResource({
  ...COMMON,
  path: 'host_metrics',
  type: 'host_metric',
  entity: HostMetric,
  orderBy: ['hostname'],
  summary: ['id', 'hostname'],
  hooks: HostMetricHooks,
  unique: {
    host_metrics_hostname_key: { hostname: 'Host metric with this Hostname already exists.' },
  },
  policy: { ...OPERATORS_ONLY, delete: superusersOnly },
  extend: constant({ used_in_inventories: null }),
  shows: {
    fields: {
      used_in_inventories: json.described(json.orNull(json.INTEGER), 'Always null: not counted.'),
    },
  },
});

export const monthlyHostMetrics = defineResource({
  ...COMMON,
  path: 'host_metric_summary_monthly',
  type: 'host_metric_summary_monthly',
  entity: MonthlyHostMetric,
  orderBy: ['date'],
  summary: ['id', 'date'],
  unique: {
    host_metric_summary_monthly_date_key: {
      date: 'Host metric summary with this Date already exists.',
    },
  },
  policy: OPERATORS_ONLY,
  extend: constant({ license_capacity: 0, indirectly_managed_hosts: 0 }),
  shows: {
    fields: {
      license_capacity: json.described(json.INTEGER, 'Always 0: there is no license.'),
      indirectly_managed_hosts: json.described(
        json.INTEGER,
        'Always 0: no host is managed through others.',
      ),
    },
  },
});
