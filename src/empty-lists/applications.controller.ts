import { ResourceController, type GenericMethod } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { applications } from './empty-lists.resource.js';

const READ: readonly GenericMethod[] = ['list', 'retrieve'];

@Resource(applications)
export class ApplicationsController extends ResourceController(applications, READ) {}
