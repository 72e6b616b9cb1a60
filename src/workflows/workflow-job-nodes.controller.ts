import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { related, SubList } from '../common/rest/sublist.js';
import { TRUE } from '../database/sql.js';
import { labelsOf } from '../labels/sublists.js';
import { workflowJobNodes } from './workflow-job-nodes.resource.js';

/**
 * Declares the sub-list of a node's children. Readers of a node can read all nodes of its workflow
 * job.
 */
const childrenOf = (relation: string) => related(relation, { options: () => ({ visible: TRUE }) });

@Resource(workflowJobNodes)
@SubList('credentials', related('credentials'))
@SubList('labels', labelsOf())
@SubList('instance_groups', related('instance_groups'))
@SubList('success_nodes', childrenOf('success_nodes'))
@SubList('failure_nodes', childrenOf('failure_nodes'))
@SubList('always_nodes', childrenOf('always_nodes'))
export class WorkflowJobNodesController extends ResourceController(workflowJobNodes) {}
