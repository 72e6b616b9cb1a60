import { activityOf } from '../activity/sublists.js';
import { Copyable } from '../common/rest/copy.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { executionEnvironments } from './execution-environments.resource.js';

@Resource(executionEnvironments)
@Copyable()
@SubList('activity_stream', activityOf())
export class ExecutionEnvironmentsController extends ResourceController(executionEnvironments) {}
