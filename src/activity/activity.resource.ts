import {
  heldObjects,
  heldObjectsOfAllTypes,
  usersHolding,
} from '../access/role-ancestors.repository.js';
import { anyOf, isActor, permit, type Actor, type Predicate } from '../common/access.js';
import { hasRoleOn } from '../access/predicates.js';
import { Char, Choices, DateTime, Integer, Json, Reference } from '../common/fields/field.js';
import { defineResource } from '../common/resource/define-resource.js';
import { ACTIVITY_TOTALS } from './activity-totals.js';
import { describeEntries, ACTIVITY_SHOWS } from './activity-extension.js';
import { resource } from '../common/resource/registry.js';
import { selectRows } from '../common/resource/select-rows.js';
import { ident, sql, type Sql } from '../database/sql.js';

/**
 * One entry of the audit trail (docs/contract/activity.md#entries). It outlives the objects it
 * speaks of.
 */
class ActivitySchema {
  @Integer({ label: 'ID', readOnly: true })
  id!: number;

  @DateTime({ readOnly: true, nullable: false, columnDefault: 'now()' })
  timestamp!: string;

  @Choices(
    ['create', 'update', 'delete', 'associate', 'disassociate'].map(
      (word) => [word, word] as const,
    ),
    { readOnly: true },
  )
  operation!: string;

  @Json({
    readOnly: true,
    search: true,
    help: 'Old and new value by field, or what was tied to what.',
  })
  changes!: Record<string, unknown>;

  @Char({ readOnly: true, help: 'Type of the object acted on.' })
  object1!: string;

  @Char({ readOnly: true, help: 'Type of the second object of an association.' })
  object2!: string;

  @Char({ readOnly: true })
  object_association!: string;

  @Char({ readOnly: true, help: 'Resource type a granted role belongs to.' })
  object_type!: string;

  @Char({ readOnly: true })
  action_node!: string;

  @Reference(() => resource('user'), { readOnly: true, nullable: true, hidden: true })
  actor!: Reference | null;

  @Json({ internal: true, nullable: true })
  actor_snapshot!: object | null;

  @Integer({ internal: true, nullable: true })
  object1_id!: number | null;

  @Char({ internal: true })
  object1_name!: string;

  @Integer({ internal: true, nullable: true })
  object2_id!: number | null;

  @Char({ internal: true })
  object2_name!: string;

  /** Kept so that the organization's auditors still see what became of deleted objects. */
  @Integer({ internal: true, nullable: true })
  organization_id!: number | null;

  /** Kept for the same reason for readers of what the object belonged to: the inventory of a host. */
  @Char({ internal: true, nullable: true })
  parent_type!: string | null;

  @Integer({ internal: true, nullable: true })
  parent_id!: number | null;
}

/** One of the objects an entry names is among those a query selects by type and id. */
const names =
  (side: 'object1' | 'object2' | 'parent', objects: (actor: Actor) => Sql): Predicate =>
  (alias, actor) => {
    const type = side === 'parent' ? 'parent_type' : side;
    return sql`(${ident(alias, type)}, ${ident(alias, `${side}_id`)}) IN (${objects(actor)})`;
  };

/** Objects the caller may read by a role on them. An organization shows its activity to auditors. */
const readableObjects = (actor: Actor): Sql => sql`
  SELECT held.content_type, held.object_id
  FROM (${heldObjectsOfAllTypes(actor, 'read_role')}) held
  WHERE held.content_type <> 'organization'`;

/** Teams are read by more people than hold a role on them. */
const readableTeams = (actor: Actor): Sql => {
  const team = resource('team');
  return selectRows(team, 'tm', sql`'team', tm.id`, permit(team.policy, 'read', 'tm', actor));
};

/** Users in organizations the caller audits, and the caller. */
const auditedUsers = (actor: Actor): Sql => sql`
  SELECT 'user', member.user_id FROM (${usersHolding(
    'organization',
    'member_role',
    (id) => sql`${id} IN (${heldObjects('organization', 'auditor_role', actor)})`,
  )}) member
  UNION ALL SELECT 'user', ${actor.id}::int`;

export const activityStream = defineResource({
  path: 'activity_stream',
  type: 'activity_stream',
  schema: ActivitySchema,
  table: 'activity_stream',
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  pages: {
    list: { title: 'Activity', about: 'Who did what, when, and with which objects.' },
    linkedOrder: '-id',
  },
  summaryKeys: { actor: null },
  indexes: [
    { name: 'activity_stream_timestamp_idx', columns: ['timestamp', 'id'] },
    { name: 'activity_stream_object1_idx', columns: ['object1', 'object1_id'] },
    { name: 'activity_stream_object2_idx', columns: ['object2', 'object2_id'] },
    { name: 'activity_stream_organization_id_idx', columns: ['organization_id'] },
    { name: 'activity_stream_parent_idx', columns: ['parent_type', 'parent_id'] },
  ],
  policy: {
    // Mine, about what I may read or audit, and whatever belongs to organizations I audit.
    read: anyOf(
      isActor('actor_id'),
      hasRoleOn('organization_id', 'organization', 'auditor_role'),
      ...(['object1', 'object2', 'parent'] as const).map((side) => names(side, readableObjects)),
      names('object1', readableTeams),
      names('object2', readableTeams),
      names('object1', auditedUsers),
      names('parent', auditedUsers),
    ),
  },
  counter: ACTIVITY_TOTALS,
  extend: describeEntries,
  shows: ACTIVITY_SHOWS,
});
