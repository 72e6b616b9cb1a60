import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Notification template of a template for one event. */
@Entity('template_notifications')
@Index(
  'template_notifications_key',
  ['unified_job_template_id', 'notification_template_id', 'event'],
  { unique: true },
)
export class TemplateNotification extends LinkRow {
  @Column('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  unified_job_template_id!: number;

  @Column('integer')
  @ForeignKey('notification_templates', CASCADE)
  @Index()
  notification_template_id!: number;

  @Column('text')
  event!: string;
}
