import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sets the status of notifications that wait for a retry to `failed`, and indexes unfinished notifications.
 * Skips notifications with a running attempt. Tests have no retry.
 */
export class TellFailedAttempts1795328845180 implements MigrationInterface {
  name = 'TellFailedAttempts1795328845180';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "notifications_unfinished_idx" ON "notifications" ("notification_template_id", "id") WHERE ((status = 'pending'::text) OR (next_attempt_at IS NOT NULL))`,
    );
    await runner.query(
      `UPDATE notifications n SET
         status = 'failed',
         error = coalesce(nullif(n.error, ''), (
           SELECT detail FROM notification_attempts a
           WHERE a.notification_id = n.id AND NOT a.successful ORDER BY a.number DESC LIMIT 1), ''),
         next_attempt_at = CASE WHEN n.event <> 'test' THEN coalesce(n.next_attempt_at, now()) END
       WHERE n.status = 'pending' AND n.attempts > 0 AND n.lease_until IS NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `UPDATE notifications SET status = 'pending'
       WHERE status = 'failed' AND next_attempt_at IS NOT NULL`,
    );
    await runner.query(`DROP INDEX "public"."notifications_unfinished_idx"`);
  }
}
