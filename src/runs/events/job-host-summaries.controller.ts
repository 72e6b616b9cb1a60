import { Resource, ResourceController } from '../../common/rest/resource.controller.js';
import { jobHostSummaries } from './job-events.resource.js';

@Resource(jobHostSummaries)
export class JobHostSummariesController extends ResourceController(jobHostSummaries, [
  'retrieve',
]) {}
