import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { NotificationTemplate } from './notification-template.entity.js';

@Injectable()
export class NotificationTemplatesRepository extends TableRepository<RowOf<NotificationTemplate>> {
  constructor(
    @InjectRepository(NotificationTemplate) repository: Repository<NotificationTemplate>,
  ) {
    super(repository);
  }

  /** Returns the fields of a template for the activity stream. */
  async activityFields(id: unknown): Promise<Row> {
    return this.database.rowOrFail<Row>(
      sql`SELECT id, name, organization_id FROM notification_templates WHERE id = ${id}`,
    );
  }
}
