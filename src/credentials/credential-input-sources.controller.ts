import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { credentialInputSources } from './credential-input-sources.resource.js';

@Resource(credentialInputSources)
export class CredentialInputSourcesController extends ResourceController(credentialInputSources) {}
