import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { systemJobs } from './system-jobs.resource.js';
import { RunEventsController } from '../runs/events/run-events.controller.js';
import { LiveEventsController } from '../runs/live/live-events.controller.js';
import { StdoutController } from '../runs/output/stdout.controller.js';
import { RunController } from '../runs/run.controller.js';

@Resource(systemJobs)
@SubList('notifications', children('notifications', { readOnly: true }))
export class SystemJobsController extends RunController(systemJobs) {}

@Resource(systemJobs, 'api/v2/system_jobs/:id/events')
export class SystemJobEventListController extends RunEventsController {
  protected readonly runs = systemJobs;
}

@Resource(systemJobs, 'api/v2/system_jobs/:id/stdout')
export class SystemJobStdoutController extends StdoutController {
  protected readonly runs = systemJobs;
}

@Resource(systemJobs, 'api/v2/system_jobs/:id/events/stream')
export class SystemJobLiveEventsController extends LiveEventsController {
  protected readonly runs = systemJobs;
}
