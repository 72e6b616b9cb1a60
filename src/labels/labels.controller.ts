import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { labels } from './labels.resource.js';

@Resource(labels)
@SubList('activity_stream', activityOf())
export class LabelsController extends ResourceController(labels) {}
