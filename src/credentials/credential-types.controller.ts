import { activityOf } from '../activity/sublists.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { children } from '../common/resource/sublist-kinds.js';
import { credentialTypes } from './credential-types.resource.js';

@Resource(credentialTypes)
@SubList('credentials', children('credentials'))
@SubList('activity_stream', activityOf())
export class CredentialTypesController extends ResourceController(credentialTypes) {}
