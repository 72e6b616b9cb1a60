import { Resource } from '../common/rest/resource.controller.js';
import { children, related, SubList } from '../common/rest/sublist.js';
import { RunOutputAndEventsController } from '../runs/output/run-output.controller.js';
import { RunController } from '../runs/run.controller.js';
import { projectUpdates } from './project-updates.resource.js';

@Resource(projectUpdates)
@SubList('scm_inventory_updates', related('scm_inventory_updates'))
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends RunController(projectUpdates) {}

@Resource(projectUpdates, 'api/v2/project_updates/:id')
export class ProjectUpdateOutputController extends RunOutputAndEventsController {}
