import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunChanges } from '../../src/runs/run-changes.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { Notifier } from '../../src/notifications/notifier.handler.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';

export interface NotificationRecord {
  id: number;
  event: string;
  status: string;
  subject: string;
  error: string;
  body: Record<string, unknown>;
}

interface AttemptedNotification extends NotificationRecord {
  attempts: number;
  leased: boolean;
  /** True if another attempt follows. */
  planned: boolean;
}

/** Fixture for tests of a run's notifications: an application, a worker and an HTTP service. */
export class NotifiedRuns {
  private constructor(
    readonly http: HttpSink,
    readonly test: TestApp,
    private readonly worker: INestApplicationContext,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<NotifiedRuns> {
    const http = await HttpSink.start();
    const test = await boot({
      settings: {
        BASE_URL: 'https://controller.example',
        INCIDENT_A_API_URL: http.url,
        ...settings,
      },
    });
    return new NotifiedRuns(http, test, await bootWorker(test));
  }

  async stop(): Promise<void> {
    await this.worker.close();
    await this.test.close();
    await this.http.close();
  }

  jobTemplate(): Promise<Row> {
    return this.test.make
      .project({ organization: this.test.home.organization.id })
      .then((project) => this.test.make.jobTemplate({ project: project.id }));
  }

  async attach(notification: Row, template: Row, ...events: string[]): Promise<void> {
    for (const event of events) {
      await this.test.as.superuser
        .post(`job_templates/${template.id}/notification_templates_${event}/`, {
          id: notification.id,
        })
        .expect(204);
    }
  }

  /**
   * Creates a run of a job template with a final status, and fires its notifications.
   * @returns the ids of the notifications
   */
  async ends(
    template: Row,
    status: JobStatus,
    { artifacts = {}, extraVars = '{}' }: { artifacts?: object; extraVars?: string } = {},
  ): Promise<number[]> {
    const { database, app } = this.test;
    const run = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
        project_id, organization_id, artifacts, extra_vars, started, finished)
      VALUES ('job', 'deploy', ${status}, ${template.id}, ${template.id}, ${template.project_id},
        ${template.organization_id}, ${JSON.stringify(artifacts)}::json, ${extraVars}, now(), now())
      RETURNING id`);
    const jobId = run!.id;
    await database.transaction(() =>
      app.get(RunChanges, { strict: false }).publish([{ jobId, type: 'job', status }]),
    );
    const fired = await database.rows<{ id: number }>(sql`
      SELECT id FROM notifications WHERE unified_job_id = ${jobId} ORDER BY id`);
    return fired.map(({ id }) => id);
  }

  async record(id: number): Promise<AttemptedNotification> {
    const row = await this.test.database.row<
      AttemptedNotification & { [key: string]: unknown }
    >(sql`
      SELECT id, event, status, subject, error, body, attempts, lease_until IS NOT NULL AS leased,
        next_attempt_at IS NOT NULL AS planned
      FROM notifications WHERE id = ${id}`);
    return row!;
  }

  /** Waits until no attempt is left and returns the record. */
  settled(id: number, timeoutMs = 20_000): Promise<NotificationRecord> {
    return eventually(async () => {
      const row = await this.record(id);
      if (row.status === 'pending' || row.planned)
        throw new Error(`notification ${id}: ${row.error}`);
      return row;
    }, timeoutMs);
  }

  /** Makes a notification due and lets a worker handle it. */
  async handle(id: number): Promise<void> {
    await this.test.database.execute(sql`
      UPDATE notifications SET next_attempt_at = now() WHERE id = ${id}`);
    await this.worker.get(Notifier).handle(id);
  }
}
