import { Choices, Reference, Text } from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { ExecutedJob, RUN_FIELDS } from '../runs/unified-job.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** Kinds of cleanups with their labels; the migrations contain one template of each kind. */
const CLEANUPS = [
  ['cleanup_jobs', 'Remove jobs older than a certain number of days'],
  ['cleanup_activitystream', 'Remove activity stream entries older than a certain number of days'],
  ['cleanup_sessions', 'Removes expired browser sessions from the database'],
  ['cleanup_tokens', 'Removes expired OAuth 2 access tokens and refresh tokens'],
  ['cleanup_notifications', 'Remove notifications older than a certain number of days'],
  ['cleanup_webhook_deliveries', 'Remove webhook deliveries older than a certain number of days'],
] as const;
export type CleanupKind = (typeof CLEANUPS)[number][0];

/** One cleanup of the installation, which runs as system jobs (docs/contract/system-jobs.md). */
export class SystemJobTemplate extends UnifiedTemplate {
  // The column is shared with job templates, which have another default.
  @Choices(CLEANUPS, { readOnly: true, columnDefault: 'run', help: 'Kind of the cleanup.' })
  job_type!: CleanupKind;

  @Reference('execution_environment', { ...RUN_FIELDS.environment, readOnly: true })
  execution_environment!: Reference | null;
}

/** One run of a cleanup (docs/contract/system-jobs.md#runs). */
@ReadOnly()
export class SystemJob extends ExecutedJob {
  @Reference('system_job_template', {
    nullable: true,
    index: false,
    column: 'unified_job_template_id',
    help: 'System job template that was launched.',
  })
  system_job_template!: Reference | null;

  // The column is shared with other runs, which have another default.
  @Choices(CLEANUPS, { columnDefault: 'check', help: 'Kind of the cleanup.' })
  job_type!: CleanupKind;

  @Text({ ...describedAs('json'), filter: false, help: 'Variables of the launch.' })
  extra_vars!: string;

  @Reference('execution_environment', RUN_FIELDS.environment)
  execution_environment!: Reference | null;
}
