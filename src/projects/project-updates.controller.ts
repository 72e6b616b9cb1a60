import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { children } from '../common/resource/sublist-kinds.js';
import { RunController } from '../jobs/run.controller.js';
import { projectUpdates } from './project-updates.resource.js';

@Resource(projectUpdates)
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends RunController(projectUpdates) {}
