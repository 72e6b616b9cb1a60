import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { NotificationAttemptSchema } from './notification.schema.js';

/** Writes down new attempts. @param begun query for `id` and `attempts` of their notifications */
export const beginAttempts = (begun: Sql): Sql => sql`
  INSERT INTO notification_attempts (notification_id, number) ${begun}`;

/**
 * Ends the attempts that a dead worker left behind.
 *
 * @param notifications query for the `id`s of the notifications
 */
export const abandonAttempts = (notifications: Sql, detail: string): Sql => sql`
  UPDATE notification_attempts a
  SET successful = FALSE, detail = ${detail}, modified = now()
  FROM (${notifications}) left_behind
  WHERE a.notification_id = left_behind.id AND a.successful IS NULL`;

/**
 * Ends attempts as they went.
 *
 * @param outcomes query for `id` and `attempts` of the notifications, `status`, `status_code`,
 *   `detail` and `duration_ms`
 */
export const endAttempts = (outcomes: Sql): Sql => sql`
  UPDATE notification_attempts a SET successful = ended.status = 'successful',
    status_code = ended.status_code, detail = ended.detail, duration_ms = ended.duration_ms,
    modified = now()
  FROM (${outcomes}) ended
  WHERE a.notification_id = ended.id AND a.number = ended.attempts`;

/** What came of each attempt at sending a notification. They are written with the notification. */
@Injectable()
export class NotificationAttemptsRepository extends TableRepository<
  RowOf<NotificationAttemptSchema>
> {
  constructor(database: Database) {
    super(database, 'notification_attempts');
  }
}
