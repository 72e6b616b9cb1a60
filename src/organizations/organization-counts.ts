import { holderCounts } from '../access/role-ancestors.repository.js';
import { permit } from '../common/access.js';
import { entryOf } from '../common/invariants.js';
import * as json from '../common/fields/json-schema.js';
import { keysOf } from '../common/records.js';
import { findResource, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { selectRows } from '../common/resource/select-rows.js';
import { and, join, sql } from '../database/sql.js';
import { countHostsOf } from '../inventories/inventories.repository.js';

const TYPES = {
  inventories: 'inventory',
  teams: 'team',
  job_templates: 'job_template',
  projects: 'project',
} as const;
const COUNTED = keysOf(TYPES);

export const ORGANIZATION_SHOWS: ShownMembers = {
  summary_fields: {
    related_field_counts: json.object(
      Object.fromEntries(
        [...COUNTED, 'users', 'admins', 'hosts'].map((name) => [name, json.INTEGER]),
      ),
      ['hosts'],
    ),
  },
};

/**
 * Returns `related_field_counts`: the number of objects of each type that the caller can read in each
 * organization, and of all users and administrators. Only details contain the number of hosts, to which the
 * organization's limit applies.
 */
export async function organizationExtension(
  rows: readonly Row[],
  { database, actor, detail }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const parts = COUNTED.flatMap((name) => {
    const target = findResource(TYPES[name]);
    if (!target) return [];
    const columns = sql`${name}::text AS name, t.organization_id, count(*)::int AS total`;
    const condition = and(
      sql`t.organization_id = ANY(${ids}::int[])`,
      permit(target.policy, 'read', 't', actor),
    );
    return [sql`${selectRows(target, 't', columns, condition)} GROUP BY t.organization_id`];
  });
  parts.push(sql`
    SELECT CASE role_field WHEN 'admin_role' THEN 'admins' ELSE 'users' END, object_id, total
    FROM (${holderCounts('organization', ['admin_role', 'member_role'], ids)}) held`);
  if (detail) {
    const readable = permit(resource('inventory').policy, 'read', 't', actor);
    parts.push(sql`
      SELECT 'hosts', organization_id, total FROM (${countHostsOf(ids, readable)}) hosted`);
  }
  const found = await database.preparedRows<{
    name: string;
    organization_id: number;
    total: number;
  }>(join(parts, ' UNION ALL '));
  const names = [...COUNTED, 'users', 'admins', ...(detail ? ['hosts'] : [])];
  const counts = new Map<number, Record<string, number>>(
    ids.map((id) => [id, Object.fromEntries(names.map((name) => [name, 0]))]),
  );
  for (const { name, organization_id, total } of found)
    entryOf(counts, organization_id)[name] = total;
  return new Map(
    ids.map((id) => [id, { summary_fields: { related_field_counts: counts.get(id) } }]),
  );
}
