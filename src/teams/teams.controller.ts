import {
  accessibleToTeam,
  accessList,
  objectRoles,
  teamRoles,
  roleHolders,
} from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { teams } from './teams.resource.js';

@Resource(teams)
@SubList('users', roleHolders('member_role'))
@SubList('projects', accessibleToTeam('project'))
@SubList('credentials', accessibleToTeam('credential', { create: (team) => ({ team: team.id }) }))
@SubList('roles', teamRoles())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class TeamsController extends ResourceController(teams) {}
