import { hasRole } from '../access/predicates.js';
import { anyOf } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { UnifiedTemplateSchema } from './unified-template.schema.js';

class AnyUnifiedTemplateSchema extends UnifiedTemplateSchema {
  @Reference(() => resource('organization'), { readOnly: true, nullable: true })
  organization!: number | null;
}

/** Everything that can be launched in one list (core 14). */
export const unifiedTemplates = defineResource({
  path: 'unified_job_templates',
  type: 'unified_job_template',
  schema: AnyUnifiedTemplateSchema,
  table: 'unified_job_templates',
  capabilities: {},
  summary: ['id', 'name', 'description'],
  policy: { read: anyOf(hasRole('job_template', 'read_role'), hasRole('project', 'read_role')) },
  variants: () => [resource('project'), resource('job_template')],
});
