import { ResourceController } from '../../common/rest/resource.controller.js';
import { Resource } from '../../common/rest/resource.decorator.js';
import { jobHostSummaries } from './job-events.resource.js';

@Resource(jobHostSummaries)
export class JobHostSummariesController extends ResourceController(jobHostSummaries, [
  'retrieve',
]) {}
