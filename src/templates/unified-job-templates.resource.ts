import { hasRole } from '../access/predicates.js';
import { anyOf, permit, type Predicate } from '../common/access.js';
import {
  defineResource,
  resource,
  type ResourceOptions,
} from '../common/resource/define-resource.js';
import { Reference } from '../common/fields/field.js';
import { selectRows } from '../common/resource/select-rows.js';
import { containsTerm } from '../common/list/lookups.js';
import { and, ident, or, sql } from '../database/sql.js';
import { UnifiedTemplate } from './unified-template.entity.js';

class AnyUnifiedTemplate extends UnifiedTemplate {
  @Reference('organization', {
    readOnly: true,
    nullable: true,
    help: 'Organization that the template belongs to.',
  })
  organization!: Reference | null;
}

/** Returns the predicate of a kind without roles: roles on its workflow or inventory apply. */
const ofKind =
  (type: 'workflow_approval_template' | 'inventory_source', action: string): Predicate =>
  (alias, actor) => {
    const { partCondition, policy } = resource(type);
    return and(partCondition(alias), permit(policy, action, alias, actor));
  };

/** All templates in one list (docs/contract/resources.md#unified-templates). */
export const unifiedTemplates = defineResource({
  path: 'unified_job_templates',
  type: 'unified_job_template',
  entity: AnyUnifiedTemplate,
  capabilities: {},
  alsoSearched: {
    names: ['jobtemplate__playbook'],
    condition: (alias, term) => containsTerm(ident(alias, 'playbook'), term),
  },
  aliases: { unifiedjob_unified_jobs: 'unified_jobs' },
  pages: {
    list: {
      title: 'All templates',
      about:
        'Everything that can run: playbooks, workflows, and syncs of projects and inventories.',
    },
    columns: ['name', 'status', 'organization', 'last_job_run'],
  },
  summary: ['id', 'name', 'description'],
  policy: {
    read: anyOf(
      hasRole('job_template', 'read_role'),
      hasRole('project', 'read_role'),
      hasRole('workflow_job_template', 'read_role'),
      ofKind('workflow_approval_template', 'read'),
      ofKind('inventory_source', 'read'),
    ),
    actions: {
      launch: anyOf(
        hasRole('job_template', 'execute_role'),
        hasRole('project', 'update_role'),
        hasRole('workflow_job_template', 'execute_role'),
        ofKind('workflow_approval_template', 'launch'),
        ofKind('inventory_source', 'update'),
      ),
    },
  },
  variants: () => [
    resource('project'),
    resource('inventory_source'),
    resource('job_template'),
    resource('workflow_job_template'),
    resource('system_job_template'),
  ],
});

/** Search of objects by the template that they run. */
export const searchedByTemplate: NonNullable<ResourceOptions['alsoSearched']> = {
  names: ['unified_job_template__name', 'unified_job_template__description'],
  condition: (alias, term, actor) => {
    const matches = or(containsTerm(sql`ujt.name`, term), containsTerm(sql`ujt.description`, term));
    const readable = permit(unifiedTemplates.policy, 'read', 'ujt', actor);
    const found = selectRows(unifiedTemplates, 'ujt', sql`ujt.id`, and(readable, matches));
    return sql`${ident(alias, 'unified_job_template_id')} IN (${found})`;
  },
};
