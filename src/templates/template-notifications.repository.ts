import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { TemplateNotification } from './unified-template.entity.js';

/**
 * Returns a query for attached notification templates: `unified_job_template_id`, `event`,
 * `notification_template_id`.
 */
export const notificationsOfTemplates = (): Sql => sql`
  SELECT unified_job_template_id, event, notification_template_id FROM template_notifications`;

/** Notification templates that are attached to templates, by event. */
@Injectable()
export class TemplateNotificationsRepository extends TableRepository<TemplateNotification> {
  constructor(
    @InjectRepository(TemplateNotification) repository: Repository<TemplateNotification>,
  ) {
    super(repository);
  }
}
