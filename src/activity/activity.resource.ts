import { Entity, Index } from 'typeorm';
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
import { among, hasRoleOn, heldIds, isKnown, through } from '../access/predicates.js';
import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Json, Reference } from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { defineResource } from '../common/resource/define-resource.js';
import { grantedRole } from './activity.repository.js';
import { ACTIVITY_TOTALS } from './activity-total.entity.js';
import { describeEntries, ACTIVITY_SHOWS } from './activity-extension.js';
import { resource } from '../common/resource/registry.js';
import { ident, or, sql, type Sql } from '../database/sql.js';

/**
 * Entry of the audit trail (docs/contract/activity.md#entries). An entry is kept after its objects are
 * deleted.
 */
@Entity('activity_stream')
@Index('activity_stream_timestamp_idx', ['timestamp', 'id'])
@Index('activity_stream_operation_idx', ['operation', 'id'])
@Index('activity_stream_object1_idx', ['object1', 'object1_id'])
@Index('activity_stream_object2_idx', ['object2', 'object2_id'])
@Index('activity_stream_organization_id_idx', ['organization_id'])
@Index('activity_stream_parent_idx', ['parent_type', 'parent_id'])
class ActivitySchema {
  @Integer({ ...WIDE, label: 'ID', readOnly: true })
  id!: number;

  @DateTime({ readOnly: true, nullable: false, columnDefault: 'now()' })
  timestamp!: string;

  @Choices(
    ['create', 'update', 'delete', 'associate', 'disassociate'].map(
      (word) => [word, labelOf(word)] as const,
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

  @Integer({ ...WIDE, internal: true, nullable: true })
  object1_id!: number | null;

  @Char({ internal: true })
  object1_name!: string;

  @Integer({ ...WIDE, internal: true, nullable: true })
  object2_id!: number | null;

  @Char({ internal: true })
  object2_name!: string;

  /** Stored so that the organization's auditors can read entries about deleted objects. */
  @Integer({ internal: true, nullable: true })
  organization_id!: number | null;

  /**
   * Stored so that readers of the object's parent, such as the inventory of a host, can read entries
   * about deleted objects.
   */
  @Char({ internal: true, nullable: true })
  parent_type!: string | null;

  @Integer({ ...WIDE, internal: true, nullable: true })
  parent_id!: number | null;
}

/** Column prefix of an object in an entry. */
type Side = 'object1' | 'object2' | 'parent';
const typeColumn = (side: Side): string => (side === 'parent' ? 'parent_type' : side);

/** Permits entries about an object of a type whose id column meets a rule. */
const namesOne = (side: Side, type: string, rule: (idColumn: string) => Predicate): Predicate => {
  const isOfType: Predicate = (alias) => sql`${ident(alias, typeColumn(side))} = ${type}`;
  const meets = rule(`${side}_id`);
  return withArms(allOf(isOfType, meets), () => armsOf(meets).map((arm) => allOf(isOfType, arm)));
};

/** Permits entries about an object on which the caller holds the read role. */
const namesReadable = (side: Side): Predicate => {
  const [type, id] = [typeColumn(side), `${side}_id`];
  const rule: Predicate = (alias, actor) => sql`
    (${ident(alias, type)}, ${ident(alias, id)}) IN (
      SELECT held.content_type, held.object_id
      FROM (${heldObjectsOfAllTypes(actor, 'read_role')}) held
      WHERE held.content_type <> ${SHOWN_TO_AUDITORS})`;
  const known: Predicate = (alias, actor) => {
    const held = actor.held?.onAny('read_role');
    if (!held) return rule(alias, actor);
    const each = held.filter(({ content_type: name }) => name !== SHOWN_TO_AUDITORS);
    return or(
      ...each.map(
        ({ content_type: name, ids }) => sql`
          (${ident(alias, type)} = ${name} AND ${ident(alias, id)} = ANY(${ids}::bigint[]))`,
      ),
    );
  };
  return withArms(rule, () => [known]);
};

/** Type whose activity is visible to auditors only, and not to all readers of the object. */
const SHOWN_TO_AUDITORS = 'organization';

/**
 * Permits entries about a team that the caller can read. More users can read a team than hold a role on
 * it.
 */
const namesTeam = (side: Side): Predicate =>
  namesOne(side, 'team', (id) =>
    through(
      id,
      'team',
      withArms(
        (alias, actor) => permit(resource('team').policy, 'read', alias, actor),
        () => armsOf(resource('team').policy.read),
      ),
    ),
  );

/** Permits entries about the caller, or about a user in an organization that the caller audits. */
const namesAudited = (side: Side): Predicate =>
  namesOne(side, 'user', (id) => anyOf(among(id, auditedUsers), isActor(id)));

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
  entity: ActivitySchema,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  pages: {
    list: { title: 'Activity', about: 'Who did what, when, and with which objects.' },
    linkedOrder: '-id',
  },
  summaryKeys: { actor: null },
  policy: {
    // Entries by the caller, about objects that the caller can read or audit, and of audited
    // organizations.
    read: anyOf(
      isActor('actor_id'),
      hasRoleOn('organization_id', 'organization', 'auditor_role'),
      ...(['object1', 'object2', 'parent'] as const).map(namesReadable),
      namesTeam('object1'),
      namesTeam('object2'),
      namesAudited('object1'),
      namesAudited('parent'),
    ),
  },
  relations: {
    role: {
      kind: 'computed',
      target: () => resource('role'),
      condition: (near, far) => sql`${ident(far, 'id')} IN (${grantedRole(near)})`,
      single: true,
    },
  },
  counter: ACTIVITY_TOTALS,
  extend: describeEntries,
  shows: ACTIVITY_SHOWS,
});
