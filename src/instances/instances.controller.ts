import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { listOf, related } from '../common/rest/sublist-kinds.js';
import { TRUE } from '../database/sql.js';
import { instanceGroups } from './instance-groups.resource.js';
import { instances } from './instances.resource.js';

@Resource(instances)
@SubList('jobs', related('jobs'))
// Every worker belongs to the only group there is.
@SubList(
  'instance_groups',
  listOf(
    () => instanceGroups,
    () => TRUE,
  ),
)
export class InstancesController extends ResourceController(instances, ['list', 'retrieve']) {}
