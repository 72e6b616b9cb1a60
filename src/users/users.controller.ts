import { accessList, accessible, organizationsOf, userRoles, teamsOf } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { users } from './users.resource.js';

@Resource(users)
@SubList('teams', teamsOf())
@SubList('organizations', organizationsOf('member_role'))
@SubList('admin_of_organizations', organizationsOf('admin_role'))
@SubList('projects', accessible('project'))
@SubList('credentials', accessible('credential', { create: (user) => ({ user: user.id }) }))
@SubList('roles', userRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class UsersController extends ResourceController(users) {}
