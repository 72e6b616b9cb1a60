import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { unifiedJobs } from './jobs.resource.js';

/** All kinds of runs in one list (docs/contract/runs.md#unified-runs). */
@Resource(unifiedJobs)
export class UnifiedJobsController extends ResourceController(unifiedJobs, ['list']) {}
