import { everyone } from '../common/access.js';
import { defineResource, type ResourceDefinition } from '../common/resource/define-resource.js';
import { ApplicationSchema, SystemJobTemplateSchema } from './schemas.js';

const emptyList = (
  path: string,
  type: string,
  entity: abstract new (...args: never[]) => object,
): ResourceDefinition =>
  defineResource({
    path,
    type,
    entity,
    capabilities: {},
    policy: { read: everyone },
  });

/**
 * Kinds of objects this product has none of. Clients read their lists all the same, and `import`
 * ends without them (docs/contract/clients.md#starting).
 */
export const applications = emptyList('applications', 'o_auth2_application', ApplicationSchema);
export const systemJobTemplates = emptyList(
  'system_job_templates',
  'system_job_template',
  SystemJobTemplateSchema,
);
