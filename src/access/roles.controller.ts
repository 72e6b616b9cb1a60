import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { roles } from './roles.resource.js';
import { holdersOfRole, neighborsOfRole } from './sublists.js';

@Resource(roles)
@SubList('users', holdersOfRole('user'))
@SubList('teams', holdersOfRole('team'))
@SubList('parents', neighborsOfRole('parents'), { link: false })
@SubList('children', neighborsOfRole('children'), { link: false })
export class RolesController extends ResourceController(roles) {}
