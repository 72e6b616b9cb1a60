import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { unifiedTemplates } from './unified-job-templates.resource.js';

/** Lists all templates (docs/contract/resources.md#unified-templates). */
@Resource(unifiedTemplates)
export class UnifiedJobTemplatesController extends ResourceController(unifiedTemplates, ['list']) {}
