import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

/**
 * Returns a query for attached notification templates: `unified_job_template_id`, `event`,
 * `notification_template_id`.
 */
export const notificationsOfTemplates = (): Sql => sql`
  SELECT unified_job_template_id, event, notification_template_id FROM template_notifications`;

/** Notification templates that are attached to templates, by event. */
@Injectable()
export class TemplateNotificationsRepository extends TableRepository {
  constructor(database: Database) {
    super(database, 'template_notifications');
  }
}
