import { permit } from '../common/access.js';
import { INTEGER, object } from '../common/openapi/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { findResource } from '../common/resource/registry.js';
import { and, ident, join, sql } from '../database/sql.js';

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
      Object.fromEntries([...COUNTED, 'users', 'admins'].map((name) => [name, INTEGER])),
    ),
  },
};

/**
 * `related_field_counts`: what of each kind the caller may see in each organization
 * (docs/contract/resources.md#organizations).
 */
export async function organizationExtension(
  rows: readonly Row[],
  { database, actor }: RepresentContext,
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
  const found = await database.preparedRows<{
    name: string;
    organization_id: number;
    total: number;
  }>(join(parts, ' UNION ALL '));
  const counts = new Map<number, Record<string, number>>(
    ids.map((id) => [
      id,
      Object.fromEntries([...COUNTED, 'users', 'admins'].map((name) => [name, 0])),
    ]),
  );
  for (const { name, organization_id, total } of found) counts.get(organization_id)![name] = total;
  return new Map(
    ids.map((id) => [id, { summary_fields: { related_field_counts: counts.get(id) } }]),
  );
}
