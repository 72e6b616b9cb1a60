import { accessList, objectRoles } from '../access/sublists.js';
import { resource } from '../common/resource/registry.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { listOf } from '../common/rest/sublist-kinds.js';
import { TRUE } from '../database/sql.js';
import { instanceGroups } from './instance-groups.resource.js';
import { instances } from './instances.resource.js';

@Resource(instanceGroups)
// The only group there is runs every job.
@SubList(
  'jobs',
  listOf(
    () => resource('unified_job'),
    () => TRUE,
  ),
)
@SubList(
  'instances',
  listOf(
    () => instances,
    () => TRUE,
  ),
)
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
export class InstanceGroupsController extends ResourceController(instanceGroups, [
  'list',
  'retrieve',
]) {}
