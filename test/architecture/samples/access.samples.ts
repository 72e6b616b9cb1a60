import { CALLER } from './actors.js';
import * as ancestors from '../../../src/access/role-ancestors.repository.js';
import * as members from '../../../src/access/role-members.repository.js';
import * as parents from '../../../src/access/role-parents.repository.js';
import * as teams from '../../../src/access/role-teams.repository.js';
import * as roles from '../../../src/access/roles.repository.js';
import { resource } from '../../../src/common/resource/define-resource.js';
import { sql, type Sql } from '../../../src/database/sql.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const ROLES = sql`SELECT 1`;
const ACTOR = { id: 1 };
const EDGE = {
  child: { object: 1, field: 'admin_role' },
  parent: { type: 'organization', object: 1, field: 'admin_role' },
};
const isFirst = (id: Sql): Sql => sql`${id} = 1`;

export default {
  repositories: [
    samplesOf(roles.RolesRepository, {
      ofObject: [['team', 1, 'admin_role']],
      ofSystem: [['system_auditor']],
      createFor: [['team', [1], ['admin_role']]],
      directHolders: [['credential', 'admin_role', [1]]],
      manageable: [
        [[1], CALLER, true],
        [[1], CALLER, false],
      ],
    }),
    samplesOf(members.RoleMembersRepository, {
      grant: [
        [1, 2, null],
        [1, 2, 3],
      ],
      grantedBy: [[1, 2]],
      revoke: [[1, 2]],
      grantAdmin: [['team', 1, 2]],
      accessTo: [['team', 1, [2], CALLER]],
    }),
    samplesOf(teams.RoleTeamsRepository, {
      grant: [[1, 2]],
      revoke: [[1, 2]],
      grantsOn: [['team', 1]],
      grantsTo: [[[1]]],
    }),
    samplesOf(parents.RoleParentsRepository, {
      lock: [[]],
      lockShared: [[]],
      addEdge: [[1, 2]],
      addImplied: [['team', [EDGE]]],
      objectsWith: [[resource('job_template'), 'inventory_id', [1]]],
      removeImplied: [[ROLES]],
    }),
    samplesOf(ancestors.RoleAncestorsRepository, {
      holds: [
        [1, 'admin_role'],
        [1, 'member_role', 'organization', 2],
      ],
      connect: [[1, 2]],
      heldBy: [[1]],
      rebuildBelow: [[ROLES]],
      rebuild: [[ROLES]],
    }),
  ],
  fragments: [
    fragmentsOf(roles, {
      rolesOf: {
        calls: [
          ['team', [1]],
          ['team', [1], 'admin_role'],
        ],
        inside: asQuery,
      },
      systemRoles: { calls: [[['system_auditor']]], inside: asQuery },
      selectObjectRoles: { calls: [['team', [1]]], inside: asQuery },
      objectOfRole: [[sql`1`, 'team', sql`2`]],
      isRoleOf: {
        calls: [['roles', 'team', sql`1`]],
        inside: (condition) => sql`SELECT 1 FROM roles WHERE ${condition}`,
      },
      roleNamed: { calls: [[sql`'team'`, sql`1`, sql`'read_role'`]], inside: asQuery },
    }),
    fragmentsOf(members, {
      usersGranted: { calls: [[ROLES]], inside: asQuery },
      rolesGrantedToUser: { calls: [[1]], inside: asQuery },
    }),
    fragmentsOf(teams, {
      teamsGranted: { calls: [[ROLES]], inside: asQuery },
      rolesGrantedToTeam: { calls: [[1]], inside: asQuery },
      rolesGrantedToTeams: { calls: [[[1, 2]]], inside: asQuery },
    }),
    fragmentsOf(parents, {
      neighborsOf: {
        calls: [
          [1, 'parents'],
          [1, 'children'],
        ],
        inside: asQuery,
      },
    }),
    fragmentsOf(ancestors, {
      objectsOfRoles: { calls: [['team', ROLES]], inside: asQuery },
      heldObjects: { calls: [['team', 'admin_role', ACTOR]], inside: asQuery },
      accessibleObjects: { calls: [['team', ACTOR]], inside: asQuery },
      heldObjectsOfAllTypes: { calls: [[ACTOR], [ACTOR, 'read_role']], inside: asQuery },
      usersHolding: {
        calls: [
          ['team', 'admin_role', isFirst],
          ['team', null, isFirst],
        ],
        inside: asQuery,
      },
      rolesHeldBy: { calls: [[1], [sql`1`, isFirst]], inside: asQuery },
      holderCounts: { calls: [['organization', ['admin_role'], [1]]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
