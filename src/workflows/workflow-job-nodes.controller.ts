import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { related } from '../common/resource/sublist-kinds.js';
import { SubList } from '../common/resource/sublist.js';
import { workflowJobNodes } from './workflow-job-nodes.resource.js';

@Resource(workflowJobNodes)
@SubList('credentials', related('credentials'))
export class WorkflowJobNodesController extends ResourceController(workflowJobNodes, [
  'list',
  'retrieve',
]) {}
