import { ResourceController, type GenericMethod } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { applications, systemJobTemplates } from './empty-lists.resource.js';

const READ: readonly GenericMethod[] = ['list', 'retrieve'];

@Resource(applications)
export class ApplicationsController extends ResourceController(applications, READ) {}

@Resource(systemJobTemplates)
export class SystemJobTemplatesController extends ResourceController(systemJobTemplates, READ) {}
