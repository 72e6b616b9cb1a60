import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children, related } from '../common/rest/sublist-kinds.js';
import { RunEventsController } from '../runs/events/run-events.controller.js';
import { LiveEventsController } from '../runs/live/live-events.controller.js';
import { StdoutController } from '../runs/output/stdout.controller.js';
import { RunController } from '../runs/run.controller.js';
import { projectUpdates } from './project-updates.resource.js';

@Resource(projectUpdates)
@SubList('scm_inventory_updates', related('scm_inventory_updates'))
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends RunController(projectUpdates) {}

@Resource(projectUpdates, 'api/v2/project_updates/:id/events')
export class ProjectUpdateEventListController extends RunEventsController {
  protected readonly runs = projectUpdates;
}

@Resource(projectUpdates, 'api/v2/project_updates/:id/stdout')
export class ProjectUpdateStdoutController extends StdoutController {
  protected readonly runs = projectUpdates;
}

@Resource(projectUpdates, 'api/v2/project_updates/:id/events/stream')
export class ProjectUpdateLiveEventsController extends LiveEventsController {
  protected readonly runs = projectUpdates;
}
