import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Char, Integer } from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { ident, sql } from '../database/sql.js';
import { CASCADE, SET_NULL } from '../database/table.js';

/** Role of an object, or one of the two system-wide roles (docs/contract/access.md#role-resource). */
@ReadOnly()
@Entity('roles')
@Index('roles_object_key', ['content_type', 'object_id', 'role_field'], { unique: true })
@Index('roles_content_type_object_id_id_order_idx', ['content_type', 'object_id', 'id'])
export class Role {
  @Integer({ label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @Char({ search: true, hidden: true, help: 'Role field of the object.' })
  role_field!: string;

  @Char({ search: true, hidden: true })
  content_type!: string;

  @Integer({ nullable: true, hidden: true })
  object_id!: number | null;

  @Char({
    hidden: true,
    nullable: true,
    column: null,
    computed: (alias) => sql`
      CASE WHEN ${ident(alias, 'object_id')} IS NULL THEN ${ident(alias, 'role_field')} END`,
    help: 'Name of a role of the whole system.',
  })
  singleton_name!: string | null;
}

/** User who holds a role directly. */
@Entity('role_members')
@Index('role_members_user_id_idx', ['user_id', 'role_id'])
export class RoleMember {
  @PrimaryColumn('integer')
  @ForeignKey('roles', CASCADE)
  role_id!: number;

  @PrimaryColumn('integer')
  @ForeignKey('users', CASCADE)
  user_id!: number;

  /** Authenticator whose maps granted the role at a login; null for a manual grant. */
  @Column({ type: 'integer', nullable: true })
  @ForeignKey('authenticators', SET_NULL)
  @Index({ where: '(authenticator_id IS NOT NULL)' })
  authenticator_id!: number | null;
}

/** Team that was granted a role. Each grant is also an edge from the team's member role. */
@Entity('role_teams')
@Index('role_teams_team_id_idx', ['team_id', 'role_id'])
export class RoleTeam {
  @PrimaryColumn('integer')
  @ForeignKey('roles', CASCADE)
  role_id!: number;

  @PrimaryColumn('integer')
  @ForeignKey('teams', CASCADE)
  team_id!: number;
}

/**
 * Edge between roles: holders of the parent also hold the child. A trigger on `roles` deletes the edges
 * and the closure of deleted roles and recomputes dependent roles; a foreign key would delete the edges
 * before the trigger could use them.
 */
@Entity('role_parents')
export class RoleParent {
  @PrimaryColumn('integer')
  child_id!: number;

  @PrimaryColumn('integer')
  @Index()
  parent_id!: number;

  /** `implied` by a declaration, or `team` by a grant. */
  @PrimaryColumn('text')
  via!: 'implied' | 'team';
}

/**
 * Closure of `role_parents`; each role is its own ancestor. The columns of the role are duplicated here,
 * so that one index answers "which objects of this type can the holder read".
 */
@Entity('role_ancestors')
@Index('role_ancestors_lookup_idx', ['ancestor_id', 'content_type', 'role_field', 'object_id'])
@Index('role_ancestors_object_idx', ['content_type', 'object_id', 'role_field'])
export class RoleAncestor {
  @PrimaryColumn('integer')
  ancestor_id!: number;

  @PrimaryColumn('integer')
  @Index()
  role_id!: number;

  @Column('text')
  content_type!: string;

  @Column('text')
  role_field!: string;

  @Column({ type: 'integer', nullable: true })
  object_id!: number | null;
}
