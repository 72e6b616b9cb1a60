import { activityOf } from '../activity/sublists.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { labels } from './labels.resource.js';

@Resource(labels)
@SubList('activity_stream', activityOf())
export class LabelsController extends ResourceController(labels, [
  'list',
  'create',
  'retrieve',
  'replace',
  'modify',
]) {}
