import { hasRole, hasRoleAnywhere, hasRoleOn, holdsAny } from '../access/predicates.js';
import { anyOf, everyone, unlessConfined } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { TeamHooks } from './team.hooks.js';
import { Team } from './team.entity.js';

export const teams = defineResource({
  path: 'teams',
  type: 'team',
  entity: Team,
  pages: { list: { about: 'Groups of users who share roles in an organization.' } },
  orderBy: ['organization__name', 'name'],
  hooks: TeamHooks,
  naturalKey: ['name', 'organization'],
  unique: { teams_organization_name_key: 'Team with this Organization and Name already exists.' },
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['admin_role'] } },
    { field: 'member_role', impliedBy: ['admin_role'] },
    {
      field: 'read_role',
      impliedBy: ['member_role'],
      impliedByParent: { organization: ['auditor_role'] },
    },
  ],
  policy: {
    read: anyOf(
      hasRole('team', 'read_role'),
      hasRoleOn('organization_id', 'organization', 'member_role'),
      unlessConfined(hasRoleAnywhere('organization', 'admin_role', 'auditor_role')),
    ),
    // Permission is checked through the reference, which requires `administer` on the organization.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['admin_role'], actor),
    change: hasRole('team', 'admin_role'),
    delete: hasRole('team', 'admin_role'),
  },
});
