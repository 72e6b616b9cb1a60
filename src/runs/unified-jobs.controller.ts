import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { unifiedJobs } from './jobs.resource.js';

/** Lists all kinds of runs (docs/contract/runs.md#unified-runs). */
@Resource(unifiedJobs)
export class UnifiedJobsController extends ResourceController(unifiedJobs, ['list']) {}
