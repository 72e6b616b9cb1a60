import { activityOf } from '../activity/sublists.js';
import { accessList, objectRoles } from '../access/sublists.js';
import { resource } from '../common/resource/registry.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { subListOf } from '../common/rest/sublist-kinds.js';
import { FALSE, TRUE } from '../database/sql.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { instanceGroups } from './instance-groups.resource.js';
import { machinesOfGroup } from './sublists.js';

@Resource(instanceGroups)
// The default group executes every job.
@SubList(
  'jobs',
  subListOf(
    () => resource('unified_job'),
    ({ name }) => (name === DEFAULT_GROUP ? TRUE : FALSE),
  ),
)
@SubList('instances', machinesOfGroup())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class InstanceGroupsController extends ResourceController(instanceGroups) {}
