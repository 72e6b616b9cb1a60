import { sql } from '../../src/database/sql.js';
import { RunChanges } from '../../src/runs/run-changes.service.js';
import type { TestApp } from '../support/boot.js';

/**
 * Creates a failed run that sends a notification through this template only.
 * @returns the id of the record
 */
export async function fire(
  { app, database, home }: TestApp,
  template: { id: number },
): Promise<number> {
  const run = await database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, organization_id, started, finished)
    VALUES ('job', 'deploy', 'failed', ${home.organization.id}, now(), now()) RETURNING id`);
  const jobId = run!.id;
  await database.transaction(async () => {
    await database.execute(sql`
      INSERT INTO organization_notifications (organization_id, notification_template_id, event)
      VALUES (${home.organization.id}, ${template.id}, 'error')`);
    const changes = app.get(RunChanges, { strict: false });
    await changes.publish([{ jobId, type: 'job', status: 'failed' }]);
    await database.execute(sql`
      DELETE FROM organization_notifications WHERE notification_template_id = ${template.id}`);
  });
  const record = await database.row<{ id: number }>(sql`
    SELECT id FROM notifications WHERE unified_job_id = ${jobId}`);
  return record!.id;
}
