import { defineTable } from '../database/table.js';

const role = { type: 'integer', references: { table: 'roles', onDelete: 'CASCADE' } } as const;
const user = { type: 'integer', references: { table: 'users', onDelete: 'CASCADE' } } as const;
const team = { type: 'integer', references: { table: 'teams', onDelete: 'CASCADE' } } as const;

/** Users who hold a role directly. */
defineTable({
  name: 'role_members',
  columns: { role_id: { ...role, primary: true }, user_id: { ...user, primary: true } },
  indexes: [{ name: 'role_members_user_id_idx', columns: ['user_id', 'role_id'] }],
});

/** Teams that were granted a role. Each grant is also an edge from the team's member role. */
defineTable({
  name: 'role_teams',
  columns: { role_id: { ...role, primary: true }, team_id: { ...team, primary: true } },
  indexes: [{ name: 'role_teams_team_id_idx', columns: ['team_id', 'role_id'] }],
});

/**
 * Edges between roles: holders of the parent also hold the child. A trigger on `roles` deletes the edges
 * and the closure of deleted roles and recomputes dependent roles; a foreign key would delete the edges
 * before the trigger could use them.
 */
defineTable({
  name: 'role_parents',
  columns: {
    child_id: { type: 'integer', primary: true },
    parent_id: { type: 'integer', primary: true },
    /** `implied` by a declaration, or `team` by a grant. */
    via: { type: 'text', primary: true },
  },
  indexes: [{ name: 'role_parents_parent_id_idx', columns: ['parent_id'] }],
});

/**
 * Closure of `role_parents`; each role is its own ancestor. The columns of the role are duplicated here,
 * so that one index answers "which objects of this type can the holder read".
 */
defineTable({
  name: 'role_ancestors',
  columns: {
    ancestor_id: { type: 'integer', primary: true },
    role_id: { type: 'integer', primary: true },
    content_type: { type: 'text' },
    role_field: { type: 'text' },
    object_id: { type: 'integer', nullable: true },
  },
  indexes: [
    {
      name: 'role_ancestors_lookup_idx',
      columns: ['ancestor_id', 'content_type', 'role_field', 'object_id'],
    },
    { name: 'role_ancestors_role_id_idx', columns: ['role_id'] },
    { name: 'role_ancestors_object_idx', columns: ['content_type', 'object_id', 'role_field'] },
  ],
});
