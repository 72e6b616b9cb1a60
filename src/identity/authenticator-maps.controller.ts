import { activityOf } from '../activity/sublists.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { authenticatorMaps } from './authenticators.resource.js';

@Resource(authenticatorMaps)
@SubList('activity_stream', activityOf())
export class AuthenticatorMapsController extends ResourceController(authenticatorMaps) {}
