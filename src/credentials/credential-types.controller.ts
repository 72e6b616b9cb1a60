import { activityOf } from '../activity/sublists.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { credentialTypes } from './credential-types.resource.js';

@Resource(credentialTypes)
@SubList('credentials', children('credentials'))
@SubList('activity_stream', activityOf())
export class CredentialTypesController extends ResourceController(credentialTypes) {}
