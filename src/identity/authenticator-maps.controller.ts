import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList } from '../common/rest/sublist.js';
import { authenticatorMaps } from './authenticators.resource.js';

@Resource(authenticatorMaps)
@SubList('activity_stream', activityOf())
export class AuthenticatorMapsController extends ResourceController(authenticatorMaps) {}
