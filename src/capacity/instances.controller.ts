import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { listOf, related } from '../common/resource/sublist-kinds.js';
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
