import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { RunController } from '../runs/run.controller.js';
import { projectUpdates } from './project-updates.resource.js';

@Resource(projectUpdates)
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends RunController(projectUpdates) {}
