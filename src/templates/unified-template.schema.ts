import { Bool, Choices, DateTime, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';

export const TEMPLATE_STATUSES = [
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
].map((word) => [word, word.replace(/^./, (letter) => letter.toUpperCase())] as const);

/** What everything that can be launched has. All kinds share a table and its ids (decision 11a). */
export abstract class UnifiedTemplateSchema extends NamedSchema {
  @Choices(TEMPLATE_STATUSES, {
    readOnly: true,
    default: 'never updated',
    help: 'Status of the present or the last run.',
  })
  status!: string;

  @DateTime({ readOnly: true, help: 'When the last run ended.' })
  last_job_run!: string | null;

  @Bool({ readOnly: true, help: 'Whether the last run failed.' })
  last_job_failed!: boolean;

  @DateTime({ readOnly: true, help: 'When a schedule starts the next run.' })
  next_job_run!: string | null;

  @Reference(() => resource('unified_job'), {
    readOnly: true,
    nullable: true,
    hidden: true,
    index: false,
  })
  current_job!: number | null;

  @Reference(() => resource('unified_job'), {
    readOnly: true,
    nullable: true,
    hidden: true,
    index: false,
  })
  last_job!: number | null;
}
