import { Resource } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { systemJobs } from './system-jobs.resource.js';
import { RunOutputAndEventsController } from '../runs/output/run-output.controller.js';
import { RunController } from '../runs/run.controller.js';

@Resource(systemJobs)
@SubList('notifications', children('notifications', { readOnly: true }))
export class SystemJobsController extends RunController(systemJobs) {}

@Resource(systemJobs, 'api/v2/system_jobs/:id')
export class SystemJobOutputController extends RunOutputAndEventsController {}
