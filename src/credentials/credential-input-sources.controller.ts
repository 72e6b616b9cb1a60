import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { credentialInputSources } from './credential-input-sources.resource.js';

@Resource(credentialInputSources)
export class CredentialInputSourcesController extends ResourceController(credentialInputSources) {}
