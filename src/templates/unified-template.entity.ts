import { Column, Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Bool, Choices, DateTime, Reference } from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { HIDDEN_REFERENCE, NamedEntity } from '../common/resource/resource.entity.js';
import { LinkRow, LinkTo } from '../database/table.js';

const STATUSES = [
  'never updated',
  'new',
  'pending',
  'waiting',
  'running',
  'successful',
  'failed',
  'error',
  'canceled',
  'ok',
  'missing',
] as const;

const NEVER = 'never updated';

/**
 * Declares the status of the current or the last run.
 *
 * @param never label for a template without runs: a project is updated, others are run
 */
export const TemplateStatus = (never: string): PropertyDecorator =>
  Choices(
    STATUSES.map((word) => {
      const label = word === NEVER ? never : word;
      return [word, label === 'ok' ? 'OK' : labelOf(label)] as const;
    }),
    { readOnly: true, default: NEVER, help: 'Status of the current or last run.' },
  );

/**
 * Fields of every template. All kinds share a table and its ids
 * (docs/contract/conventions.md#ids-of-templates-and-runs).
 */
@Entity('unified_job_templates')
@Index('unified_job_templates_execution_environment_id_idx', ['execution_environment_id'], {
  where: '(execution_environment_id IS NOT NULL)',
})
@Index('unified_job_templates_source_name_key', ['inventory_id', 'name'], {
  unique: true,
  where: "(type = 'inventory_source'::text)",
})
@Index('unified_job_templates_name_order_idx', ['type', 'name', 'id'])
@Index('unified_job_templates_name_key', ['type', 'organization_id', 'name'], {
  unique: true,
  where: "(type <> ALL (ARRAY['workflow_approval_template'::text, 'inventory_source'::text]))",
})
export abstract class UnifiedTemplate extends NamedEntity {
  /** Kind of the template, which names the subclass. */
  @Column('text')
  type!: string;

  @TemplateStatus('never run')
  status!: string;

  @DateTime({ readOnly: true, help: 'When the last run ended.' })
  last_job_run!: string | null;

  @Bool({ readOnly: true, help: 'True if the last run failed.' })
  last_job_failed!: boolean;

  @DateTime({ readOnly: true, help: 'When a schedule starts the next run.' })
  next_job_run!: string | null;

  @Reference('schedule', {
    ...HIDDEN_REFERENCE,
    help: 'Schedule that starts the next run.',
  })
  next_schedule!: Reference | null;

  @Reference('unified_job', { ...WIDE, ...HIDDEN_REFERENCE })
  current_job!: Reference | null;

  @Reference('unified_job', { ...WIDE, ...HIDDEN_REFERENCE })
  last_job!: Reference | null;
}

/**
 * Returns the uniqueness rule of names: a name is unique per kind and organization, or among
 * objects without an organization. Names of approvals are not unique; names of inventory sources
 * are unique per inventory.
 *
 * @param model kind of template for the error message
 */
export const uniqueTemplateName = (model: string) => ({
  unified_job_templates_name_key: `${model} with this (name, organization) combination already exists.`,
});

@Entity('template_notifications')
@Index(
  'template_notifications_key',
  ['unified_job_template_id', 'notification_template_id', 'event'],
  { unique: true },
)
export class TemplateNotification extends LinkRow {
  @LinkTo('unified_job_templates')
  unified_job_template_id!: number;

  @LinkTo('notification_templates', { index: true })
  notification_template_id!: number;

  @Column('text')
  event!: string;
}
