import { activityOf } from '../activity/sublists.js';
import { CopyController } from '../common/rest/copy.controller.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { executionEnvironments } from './execution-environments.resource.js';

@Resource(executionEnvironments)
@SubList('activity_stream', activityOf())
export class ExecutionEnvironmentsController extends ResourceController(executionEnvironments) {}

@Resource(executionEnvironments, 'api/v2/execution_environments/:id/copy')
export class ExecutionEnvironmentCopyController extends CopyController {
  protected readonly copied = executionEnvironments;
}
