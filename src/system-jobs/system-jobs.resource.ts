import { superusersOnly } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { RunHooks } from '../runs/run.hooks.js';
import { RUN_TOTALS } from '../runs/run-total.entity.js';
import { TemplateRunExtension, TEMPLATE_RUN_SHOWS } from '../runs/template-run.extension.js';
import { templateNotifications } from '../templates/template-notifications.js';
import { SystemJob, SystemJobTemplate } from './system-job.entity.js';

// Cleanups affect all organizations: superusers can launch them, auditors can read them.
const OPERATORS_ONLY = { read: superusersOnly, listRefusal: 'Superuser privileges needed.' };

export const systemJobTemplates = defineResource({
  path: 'system_job_templates',
  type: 'system_job_template',
  entity: SystemJobTemplate,
  discriminator: 'system_job_template',
  naturalKey: ['name'],
  summary: ['id', 'name', 'description', 'job_type'],
  capabilities: {},
  policy: {
    ...OPERATORS_ONLY,
    actions: { launch: superusersOnly, attach_notifications: superusersOnly },
  },
  pages: {
    list: { about: 'Cleanups that remove old data. They run as system jobs.' },
    columns: ['name', 'status', 'last_job_run', 'next_job_run'],
  },
  relations: {
    jobs: hasMany('system_job', 'system_job_template'),
    schedules: hasMany('schedule', 'unified_job_template'),
    ...templateNotifications('started', 'success', 'error'),
  },
});

export const systemJobs = defineResource({
  path: 'system_jobs',
  type: 'system_job',
  entity: SystemJob,
  discriminator: 'system_job',
  orderBy: ['id'],
  pages: { linkedOrder: '-id' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed'],
  // The template has the same summary under `unified_job_template`.
  summaryKeys: { system_job_template: null },
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: () => false },
  policy: { ...OPERATORS_ONLY, delete: superusersOnly, actions: { cancel: superusersOnly } },
  relations: {
    events: hasMany('job_event', 'job'),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: TemplateRunExtension,
  shows: TEMPLATE_RUN_SHOWS,
});
