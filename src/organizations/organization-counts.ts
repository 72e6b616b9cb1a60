import { permit, type Actor } from '../common/access.js';
import { entryOf } from '../common/invariants.js';
import { INTEGER, object } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { findResource, resource } from '../common/resource/registry.js';
import { and, ident, join, sql, type Sql } from '../database/sql.js';

const COUNTED = ['inventories', 'teams', 'job_templates', 'projects'] as const;
const TYPES = {
  inventories: 'inventory',
  teams: 'team',
  job_templates: 'job_template',
  projects: 'project',
} as const;

export const ORGANIZATION_SHOWS: ShownBesides = {
  summary_fields: {
    related_field_counts: object(
      Object.fromEntries([...COUNTED, 'users', 'admins', 'hosts'].map((name) => [name, INTEGER])),
      ['hosts'],
    ),
  },
};

/**
 * `related_field_counts`: what of each kind the caller may see in each organization; hosts, which the
 * limit of the organization is about, on its detail only.
 */
export async function organizationExtension(
  rows: readonly Row[],
  { database, actor, detail }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const parts = COUNTED.flatMap((name) => {
    const target = findResource(TYPES[name]);
    if (!target) return [];
    return [
      sql`SELECT ${name}::text AS name, t.organization_id, count(*)::int AS total
        FROM ${ident(target.table)} t
        WHERE ${and(
          sql`t.organization_id = ANY(${ids}::int[])`,
          target.own('t'),
          permit(target.policy, 'read', 't', actor),
        )} GROUP BY t.organization_id`,
    ];
  });
  parts.push(sql`
    SELECT CASE anc.role_field WHEN 'admin_role' THEN 'admins' ELSE 'users' END,
      anc.object_id, count(DISTINCT mem.user_id)::int
    FROM role_ancestors anc JOIN role_members mem ON mem.role_id = anc.ancestor_id
    WHERE anc.content_type = 'organization' AND anc.role_field IN ('admin_role', 'member_role')
      AND anc.object_id = ANY(${ids}::int[])
    GROUP BY anc.role_field, anc.object_id`);
  if (detail) parts.push(hostNames(ids, actor));
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

/** Hosts of one name are one; where a single inventory has any, its counter knows without looking. */
function hostNames(ids: readonly number[], actor: Actor): Sql {
  const inventory = resource('inventory');
  return sql`
    SELECT 'hosts', t.organization_id,
      CASE WHEN count(*) = 1 THEN sum(t.total_hosts)::int ELSE (
        SELECT count(DISTINCT name)::int FROM hosts WHERE inventory_id = ANY(array_agg(t.id))) END
    FROM inventories t
    WHERE ${and(
      sql`t.organization_id = ANY(${ids}::int[])`,
      sql`t.total_hosts > 0`,
      permit(inventory.policy, 'read', 't', actor),
    )} GROUP BY t.organization_id`;
}
