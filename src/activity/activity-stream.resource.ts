import { heldObjectsOfAllTypes, usersHolding } from '../access/role-ancestors.repository.js';
import {
  allOf,
  anyOf,
  armsOf,
  isActor,
  permit,
  withArms,
  type Actor,
  type Predicate,
} from '../common/access.js';
import { among, hasRoleOn, heldIds, isKnown, refersTo } from '../access/predicates.js';
import {
  defineResource,
  resource,
  findResource,
  type Row,
} from '../common/resource/define-resource.js';
import { grantedRole, describedEntries, type DescribedEntry } from './activity.repository.js';
import { ActivityStreamEntry } from './activity-stream-entry.entity.js';
import { ACTIVITY_TOTALS } from './activity-total.entity.js';
import { ident, or, sql, type Sql, and } from '../database/sql.js';
import * as json from '../common/fields/json-schema.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { selectRows } from '../common/resource/select-rows.js';
import { idList } from '../common/resource/ids.js';

const SIDES = ['object1', 'object2'] as const;

const ACTIVITY_SHOWS: ShownMembers = {
  relatedOthers: json.anyOfSchemas(json.STRING, json.list(json.STRING)),
  summary_fields: {
    role: json.list(json.partial({ id: json.INTEGER, name: json.STRING, role_field: json.STRING })),
    actor: json.partial({
      id: json.INTEGER,
      username: json.STRING,
      first_name: json.STRING,
      last_name: json.STRING,
    }),
  },
  summaryOthers: json.list(json.object({ id: json.WIDE_INTEGER, name: json.STRING })),
};

/**
 * Returns names and links of the objects in the entries, batched with other queries. Deleted objects keep
 * their last name. Names of existing objects that the caller cannot read are omitted, including the name
 * of the author.
 */
async function describeEntries(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const entries = await context.batch.rows<DescribedEntry>(describedEntries(ids));
  const hidden = await hiddenObjects(entries, context);
  return new Map(entries.map((entry) => [entry.id, describe(entry, hidden)]));
}

async function hiddenObjects(
  entries: readonly DescribedEntry[],
  { batch, actor }: RepresentContext,
): Promise<Map<string, Set<number>>> {
  const idsByType = new Map<string, Set<number>>();
  const addId = (type: string, id: unknown): void => {
    if (typeof id === 'number') idsByType.set(type, (idsByType.get(type) ?? new Set()).add(id));
  };
  for (const entry of entries) {
    addId('user', entry.actor_id);
    for (const side of SIDES) addId(String(entry[side]), entry[`${side}_id`]);
  }
  if (actor.isSuperuser || actor.isSystemAuditor) return new Map();
  const hiddenByType = [...idsByType].map(async ([type, ids]): Promise<[string, Set<number>]> => {
    const definition = findResource(type);
    if (!definition) return [type, new Set()];
    const readable = permit(definition.policy, 'read', 't', actor);
    const condition = and(
      sql`t.id = ANY(${idList(definition, [...ids])})`,
      sql`(${readable}) IS NOT TRUE`,
    );
    const rows = await batch.rows<{ id: number }>(
      selectRows(definition, 't', sql`t.id`, condition),
    );
    return [type, new Set(rows.map(({ id }) => id))];
  });
  return new Map(await Promise.all(hiddenByType));
}

function describe(entry: DescribedEntry, hidden: Map<string, Set<number>>): Extension {
  const related: Record<string, string[]> = {};
  const summary: Record<string, unknown[]> = {};
  for (const side of SIDES) {
    const [type, id] = [entry[side], entry[`${side}_id`]];
    const definition = findResource(type);
    if (!definition || typeof id !== 'number') continue;
    (related[type] ??= []).push(definition.url(id));
    if (hidden.get(type)?.has(id)) continue;
    (summary[type] ??= []).push({ id, name: entry[`${side}_name`] });
  }
  if (entry.role !== null) {
    const { role_id: roleId, role, object2, object2_name: name } = entry;
    if (roleId !== null) related.role = [resource('role').url(roleId)];
    const roleSummary = roleId === null ? {} : { id: roleId };
    // A system-wide role is itself an object of the entry.
    const systemRoleName = object2 === 'role' ? { name } : {};
    summary.role = [{ ...roleSummary, ...systemRoleName, role_field: role.split('.')[1] }];
  }
  const { actor_snapshot: snapshot, actor_id: id } = entry;
  const isHidden = id !== null && hidden.get('user')?.has(id) === true;
  const actor = snapshot ? { actor: isHidden ? { id } : { ...snapshot, id } } : {};
  return {
    // Several objects of one type can be in one entry, so each type has a list of paths.
    related,
    summary_fields: { ...summary, ...actor },
  };
}

/** Column prefix of an object in an entry. */
type Side = 'object1' | 'object2' | 'parent';
const typeColumn = (side: Side): string => (side === 'parent' ? 'parent_type' : side);

/** Permits entries about an object of a type whose id column meets a rule. */
const isAbout = (side: Side, type: string, rule: (idColumn: string) => Predicate): Predicate => {
  const isOfType: Predicate = (alias) => sql`${ident(alias, typeColumn(side))} = ${type}`;
  const meets = rule(`${side}_id`);
  return withArms(allOf(isOfType, meets), () => armsOf(meets).map((arm) => allOf(isOfType, arm)));
};

/** Permits entries about an object, except an organization, on which the caller holds the read role. */
const isAboutReadable = (side: Side): Predicate => {
  const [type, id] = [typeColumn(side), `${side}_id`];
  const rule: Predicate = (alias, actor) => sql`
    (${ident(alias, type)}, ${ident(alias, id)}) IN (
      SELECT held.content_type, held.object_id
      FROM (${heldObjectsOfAllTypes(actor, 'read_role')}) held
      WHERE held.content_type <> ${AUDITOR_ONLY_TYPE})`;
  const byKnownIds: Predicate = (alias, actor) => {
    const held = actor.heldRoles?.onAny('read_role');
    if (!held) return rule(alias, actor);
    const readable = held.filter(({ content_type: name }) => name !== AUDITOR_ONLY_TYPE);
    return or(
      ...readable.map(
        ({ content_type: name, ids }) => sql`
          (${ident(alias, type)} = ${name} AND ${ident(alias, id)} = ANY(${ids}::bigint[]))`,
      ),
    );
  };
  return withArms(rule, () => [byKnownIds]);
};

/** Type whose activity is visible to auditors only, and not to all readers of the object. */
const AUDITOR_ONLY_TYPE = 'organization';

/**
 * Permits entries about a team that the caller can read. More users can read a team than hold a role on
 * it.
 */
const isAboutTeam = (side: Side): Predicate =>
  isAbout(side, 'team', (id) =>
    refersTo(
      id,
      'team',
      withArms(
        (alias, actor) => permit(resource('team').policy, 'read', alias, actor),
        () => armsOf(resource('team').policy.read),
      ),
    ),
  );

/** Permits entries about the caller, or about a user in an organization that the caller audits. */
const isAboutAuditedUser = (side: Side): Predicate =>
  isAbout(side, 'user', (id) => anyOf(among(id, auditedUsers), isActor(id)));

const auditedUsers = (_alias: string, actor: Actor): readonly number[] | Sql => {
  const audited = heldIds('organization', 'auditor_role', actor);
  if (!isKnown(audited)) {
    return usersHolding('organization', 'member_role', (id) => sql`${id} IN (${audited})`);
  }
  if (audited.length === 0) return [];
  return usersHolding('organization', 'member_role', (id) => sql`${id} = ANY(${audited}::int[])`);
};

/** Permits entries about roles and links of an organization that the caller audits. */
const isAboutAuditedOrganization = isAbout('object2', AUDITOR_ONLY_TYPE, (id) =>
  hasRoleOn(id, AUDITOR_ONLY_TYPE, 'auditor_role'),
);

/**
 * Permits entries about objects without roles of their own to their administrators in the organization of
 * the entry.
 */
const isAboutAdministered = (type: string, role: string): Predicate =>
  isAbout('object1', type, () => hasRoleOn('organization_id', 'organization', role));

export const activityStream = defineResource({
  path: 'activity_stream',
  type: 'activity_stream',
  entity: ActivityStreamEntry,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  pages: {
    list: { title: 'Activity', about: 'Changes to objects: user, operation and time.' },
    linkedOrder: '-id',
  },
  summaryKeys: { actor: null },
  policy: {
    // Entries by the caller, about objects that the caller can read or audit, and of audited
    // organizations.
    read: anyOf(
      isActor('actor_id'),
      hasRoleOn('organization_id', 'organization', 'auditor_role'),
      ...(['object1', 'object2', 'parent'] as const).map(isAboutReadable),
      isAboutTeam('object1'),
      isAboutTeam('object2'),
      isAboutAuditedOrganization,
      isAboutAdministered('notification_template', 'notification_admin_role'),
      isAboutAdministered('execution_environment', 'execution_environment_admin_role'),
      isAboutAuditedUser('object1'),
      isAboutAuditedUser('parent'),
    ),
  },
  relations: {
    role: {
      kind: 'computed',
      target: () => resource('role'),
      condition: (id, alias) => sql`${ident(alias, 'id')} IN (${grantedRole(id)})`,
      single: true,
    },
  },
  counter: ACTIVITY_TOTALS,
  extend: describeEntries,
  shows: ACTIVITY_SHOWS,
});
