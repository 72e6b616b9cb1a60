import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { unifiedJobs } from './jobs.resource.js';

/** All kinds of runs in one list (core 14). */
@Resource(unifiedJobs)
export class UnifiedJobsController extends ResourceController(unifiedJobs, ['list']) {}
