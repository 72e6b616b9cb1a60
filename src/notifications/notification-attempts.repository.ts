import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { NotificationAttempt } from './notification.entity.js';

/**
 * Returns a statement that inserts new attempts.
 *
 * @param notifications query for `id` and `attempts` of the notifications
 */
export const addAttempts = (notifications: Sql): Sql => sql`
  INSERT INTO notification_attempts (notification_id, number) ${notifications}`;

export const ABANDONED_DETAIL = 'The worker ended before the outcome was known.';

/**
 * Returns a statement that ends the attempts of dead workers.
 *
 * @param notifications query for the `id`s of the notifications
 */
export const abandonAttempts = (notifications: Sql): Sql => sql`
  UPDATE notification_attempts a
  SET successful = FALSE, detail = ${ABANDONED_DETAIL}, modified = now()
  FROM (${notifications}) abandoned
  WHERE a.notification_id = abandoned.id AND a.successful IS NULL`;

/**
 * Returns a statement that stores the results of attempts.
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

/** Rows of attempts to send notifications. `NotificationLeasesRepository` writes them. */
@Injectable()
export class NotificationAttemptsRepository extends TableRepository<RowOf<NotificationAttempt>> {
  constructor(@InjectRepository(NotificationAttempt) repository: Repository<NotificationAttempt>) {
    super(repository);
  }
}
