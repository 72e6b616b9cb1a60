import { activityOf } from '../activity/sublists.js';
import { accessList, objectRoles } from '../access/sublists.js';
import { resource } from '../common/resource/define-resource.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList, subListOf } from '../common/rest/sublist.js';
import { sql, TRUE } from '../database/sql.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { instanceGroups } from './instance-groups.resource.js';
import { machinesOfGroup } from './sublists.js';

@Resource(instanceGroups)
// Every machine belongs to the default group, so every job is one of its jobs.
@SubList(
  'jobs',
  subListOf(
    () => resource('unified_job'),
    ({ id, name }) => (name === DEFAULT_GROUP ? TRUE : sql`t.instance_group_id = ${id}`),
  ),
)
@SubList('instances', machinesOfGroup())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class InstanceGroupsController extends ResourceController(instanceGroups) {}
