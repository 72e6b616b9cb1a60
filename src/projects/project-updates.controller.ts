import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children, related } from '../common/rest/sublist-kinds.js';
import { WithEvents } from '../runs/events/event-routes.js';
import { WithLiveEvents } from '../runs/live/live-events.js';
import { WithStdout } from '../runs/output/stdout-routes.js';
import { RunController } from '../runs/run.controller.js';
import { projectUpdates } from './project-updates.resource.js';

@Resource(projectUpdates)
@WithEvents('events')
@WithStdout()
@WithLiveEvents()
@SubList('scm_inventory_updates', related('scm_inventory_updates'))
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends RunController(projectUpdates) {}
