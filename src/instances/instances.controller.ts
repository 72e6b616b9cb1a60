import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { related } from '../common/rest/sublist-kinds.js';
import { instances } from './instances.resource.js';

@Resource(instances)
@SubList('jobs', related('jobs'))
@SubList('instance_groups', related('instance_groups'))
export class InstancesController extends ResourceController(instances, [
  'list',
  'retrieve',
  'replace',
  'modify',
]) {}
