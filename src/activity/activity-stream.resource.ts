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
import { defineResource, resource } from '../common/resource/define-resource.js';
import { grantedRole } from './activity.repository.js';
import { ActivityStreamEntry } from './activity-stream-entry.entity.js';
import { ACTIVITY_TOTALS } from './activity-total.entity.js';
import { describeEntries, ACTIVITY_SHOWS } from './activity-extension.js';
import { ident, or, sql, type Sql } from '../database/sql.js';

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
