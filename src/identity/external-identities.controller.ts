import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { externalIdentities } from './authenticators.resource.js';

@Resource(externalIdentities)
@SubList('activity_stream', activityOf())
export class ExternalIdentitiesController extends ResourceController(externalIdentities) {}
