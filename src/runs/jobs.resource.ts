import { hasRoleOn } from '../access/predicates.js';
import {
  allOf,
  anyOf,
  armsOf,
  isActor,
  permit,
  withArms,
  type Predicate,
} from '../common/access.js';
import { containsTerm } from '../common/list/lookups.js';
import {
  defineResource,
  hasMany,
  manyToMany,
  resource,
  type Row,
} from '../common/resource/define-resource.js';
import { and, ident, sql } from '../database/sql.js';
import { labeled } from '../labels/label-links.js';
import { launchFieldsOf } from '../prompts/launch-options.js';
import { templateNames } from '../templates/templates.repository.js';
import { RunHooks } from './run.hooks.js';
import { Job } from './job.entity.js';
import { JobExtension, JOB_SHOWS } from './job.extension.js';
import { RUN_TOTALS } from './run-total.entity.js';
import { UnifiedJob } from './unified-job.entity.js';

/** Predicate for administrators and auditors of the organization that a run belongs to. */
export const runsOrganization: Predicate = anyOf(
  hasRoleOn('organization_id', 'organization', 'admin_role'),
  hasRoleOn('organization_id', 'organization', 'auditor_role'),
);

/**
 * Excludes parents of bulk launches, which fewer users see in lists than other runs
 * (docs/contract/bulk.md#who-sees-the-workflow-job).
 */
const isNotBulkParent: Predicate = (alias) => sql`${ident(alias, 'is_bulk_job')} IS NOT TRUE`;

/** Returns a predicate that applies the policy of a kind to the runs of that kind. */
const ofKind = (type: string): Predicate => {
  const restricted =
    (rule: Predicate): Predicate =>
    (alias, actor) =>
      and(resource(type).partCondition(alias), rule(alias, actor));
  return withArms(
    restricted((alias, actor) => permit(resource(type).policy, 'read', alias, actor)),
    () => armsOf(resource(type).policy.read).map(restricted),
  );
};

/** Predicate for runs whose template was deleted. */
export const isOrphan: Predicate = (alias) =>
  sql`${ident(alias, 'unified_job_template_id')} IS NULL`;

/** Columns, order and empty state of runs in lists of pages. */
export const RUN_PAGES = {
  emptyLink: { text: 'Launch a template', list: 'unified_job_templates' },
  linkedOrder: '-id',
  columns: ['name', 'status', 'started', 'elapsed', 'launch_type', 'launched_by'],
} as const;

/** Returns true for a run whose template still exists, which a relaunch requires. */
export const hasTemplate = ({ unified_job_template_id: template }: Row): boolean =>
  template !== null;

export const jobs = defineResource({
  path: 'jobs',
  type: 'job',
  entity: Job,
  discriminator: 'job',
  orderBy: ['id'],
  auditParent: { field: 'job_template', type: 'job_template' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed', 'elapsed', 'type', 'canceled_on'],
  summarize: (alias) => ({
    job_template_id: ident(alias, 'job_template_id'),
    job_template_name: sql`(
      SELECT name FROM (${templateNames()}) template
      WHERE template.id = ${ident(alias, 'job_template_id')})`,
  }),
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: hasTemplate },
  pages: {
    folded: ['Options', 'Execution'],
    sections: {
      Playbook: [
        'job_template',
        'project',
        'playbook',
        'scm_revision',
        'project_update',
        ...launchFieldsOf('what'),
        'start_at_task',
      ],
      Where: [...launchFieldsOf('where'), 'host_status_counts', 'artifacts'],
      Options: [
        ...launchFieldsOf('how'),
        'job_slice_number',
        'become_enabled',
        'use_fact_cache',
        'force_handlers',
        'allow_simultaneous',
      ],
      Execution: [
        'execution_node',
        'controller_node',
        'isolation',
        'environment',
        'environment_digest',
        'job_args',
        'job_cwd',
        'job_env',
        'result_traceback',
        'event_processing_finished',
        'playbook_counts',
      ],
      Launch: [
        'launch_type',
        'launched_by',
        'webhook_service',
        'webhook_credential',
        'webhook_guid',
        'webhook_delivery',
      ],
    },
    ...RUN_PAGES,
  },
  policy: {
    read: anyOf(
      hasRoleOn('unified_job_template_id', 'job_template', 'read_role'),
      runsOrganization,
    ),
    delete: hasRoleOn('organization_id', 'organization', 'admin_role'),
    actions: {
      start: hasRoleOn('unified_job_template_id', 'job_template', 'execute_role'),
      cancel: anyOf(
        isActor('created_by_id'),
        hasRoleOn('unified_job_template_id', 'job_template', 'admin_role'),
        allOf(isOrphan, hasRoleOn('organization_id', 'organization', 'job_template_admin_role')),
      ),
    },
  },
  relations: {
    job_events: hasMany('job_event', 'job'),
    job_host_summaries: hasMany('job_host_summary', 'job'),
    unified_job_node: hasMany('workflow_job_node', 'job'),
    credentials: manyToMany('credential', { table: 'job_credentials', sourceColumn: 'job_id' }),
    labels: labeled('job'),
    hosts: manyToMany('host', { table: 'job_host_summaries', sourceColumn: 'job_id' }),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: JobExtension,
  shows: JOB_SHOWS,
});

/** All kinds of runs in one list (docs/contract/runs.md#unified-runs). */
export const unifiedJobs = defineResource({
  path: 'unified_jobs',
  type: 'unified_job',
  entity: UnifiedJob,
  orderBy: ['id'],
  capabilities: {},
  summary: ['id', 'name', 'description', 'status', 'failed', 'finished', 'type'],
  pages: {
    list: {
      title: 'All jobs',
      about:
        'Runs of playbooks, workflows, commands and syncs. Approvals have a list of their own.',
    },
    ...RUN_PAGES,
  },
  policy: {
    read: anyOf(
      hasRoleOn('unified_job_template_id', 'job_template', 'read_role'),
      hasRoleOn('unified_job_template_id', 'project', 'read_role'),
      hasRoleOn('unified_job_template_id', 'workflow_job_template', 'read_role'),
      ofKind('inventory_update'),
      ofKind('ad_hoc_command'),
      hasRoleOn('organization_id', 'organization', 'admin_role'),
      allOf(isNotBulkParent, hasRoleOn('organization_id', 'organization', 'auditor_role')),
    ),
  },
  relations: {
    unified_job_node: hasMany('workflow_job_node', 'job'),
  },
  aliases: { workflow_job_node: 'unified_job_node' },
  alsoSearched: {
    names: ['job__playbook'],
    condition: (alias, term) => containsTerm(ident(alias, 'playbook'), term),
  },
  counter: RUN_TOTALS,
  variants: () => [
    jobs,
    ...['project_update', 'inventory_update', 'workflow_job', 'ad_hoc_command', 'system_job'].map(
      (type) => resource(type),
    ),
  ],
});
