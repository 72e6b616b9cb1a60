import type { INestApplicationContext } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import type { NotificationType } from '../../src/notifications/backends/notification-type.js';
import { Notifier } from '../../src/notifications/notifier.handler.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { fire } from './fire.js';

const BASE = 'https://controller.example';

export interface Sent {
  template: number;
  id: number;
  /** Stable id of the message that is sent. */
  messageId: string;
}

export interface AttemptedRecord {
  status: string;
  error: string;
  notifications_sent: number;
  attempts: number;
  /** Seconds from the attempt to the next one; null if none follows. */
  wait: number | null;
  leased: boolean;
  attempt: { successful: boolean | null; status_code: number | null; detail: string };
}

/** Fixture of the notification tests: an application, a worker and an HTTP service. */
export class NotificationMatrix {
  private counter = 0;
  /** Another destination, which no slow destination may delay. */
  private bystander = { id: 0, url: '' };

  private constructor(
    readonly http: HttpSink,
    readonly test: TestApp,
    private readonly worker: INestApplicationContext,
  ) {}

  static async start(): Promise<NotificationMatrix> {
    const http = await HttpSink.start();
    const test = await boot({
      settings: {
        CHAT_A_API_URL: http.url,
        SMS_A_API_URL: http.url,
        INCIDENT_A_API_URL: http.url,
        BASE_URL: BASE,
        NOTIFICATION_TEST_RATE: '1000',
      },
    });
    const matrix = new NotificationMatrix(http, test, await bootWorker(test));
    matrix.bystander = await matrix.template('webhook', { url: `${http.url}/bystander` });
    return matrix;
  }

  async stop(): Promise<void> {
    await this.worker.close();
    await this.test.close();
    await this.http.close();
  }

  /**
   * Fails all pending notifications after a test: later attempts would consume responses of the next test,
   * and an open breaker would hold its attempts back.
   */
  async clean(): Promise<void> {
    const { database } = this.test;
    await eventually(async () => {
      const left = await database.rows(sql`
        UPDATE notifications SET status = 'failed', next_attempt_at = NULL
        WHERE (status = 'pending' OR next_attempt_at IS NOT NULL) AND lease_until IS NULL
        RETURNING id`);
      const underWay = await database.rows(sql`
        SELECT id FROM notifications WHERE lease_until IS NOT NULL`);
      expect([left, underWay]).toEqual([[], []]);
    }, 20_000);
    await database.execute(sql`DELETE FROM outbound_breakers`);
    this.http.requests.length = 0;
  }

  async template(
    type: NotificationType,
    change: object = {},
    ports: { smtp?: number; irc?: number } = {},
  ): Promise<{ id: number; url: string }> {
    const { body } = await this.test.as.orgAdmin
      .post('notification_templates/', {
        name: `${type} ${(this.counter += 1)}`,
        organization: this.test.home.organization.id,
        notification_type: type,
        notification_configuration: {
          ...configurationsFor({ http: this.http.port, ...ports })[type],
          ...change,
        },
      })
      .expect(201);
    return body as { id: number; url: string };
  }

  /** Sends through a template: a test, which is attempted once, or a notification of a failed run. */
  async send(made: { id: number; url: string }, event: 'test' | 'error' = 'test'): Promise<Sent> {
    const id = event === 'test' ? await this.sendTest(made) : await fire(this.test, made);
    const row = await this.test.database.row<{ message_id: string; template: number }>(sql`
      SELECT message_id, notification_template_id AS template FROM notifications
      WHERE id = ${id}`);
    return { id, messageId: row!.message_id, template: row!.template };
  }

  /** Waits for the end of the first attempt and returns the record. */
  attempted({ id }: { id: number }): Promise<AttemptedRecord> {
    return eventually(async () => {
      const row = await this.record(id);
      expect(row).toMatchObject({ attempts: 1, leased: false });
      return row;
    }, 30_000);
  }

  /** Asserts that an attempt in progress at one destination does not delay another destination. */
  async expectOthersServed(slow: Sent): Promise<void> {
    await eventually(async () =>
      expect(await this.record(slow.id)).toMatchObject({ leased: true }),
    );
    const other = await this.send(this.bystander);
    expect(await this.attempted(other)).toMatchObject({ status: 'successful' });
    expect(await this.record(slow.id)).toMatchObject({ status: 'pending', leased: true });
  }

  /** Makes a notification due and lets a worker handle it. */
  async passTime({ id }: { id: number }): Promise<void> {
    await this.test.database.execute(sql`
      UPDATE notifications SET next_attempt_at = now()
      WHERE id = ${id} AND next_attempt_at IS NOT NULL`);
    await this.worker.get(Notifier).handle(id);
  }

  private async sendTest({ url }: { url: string }): Promise<number> {
    const { body } = await this.test.as.orgAdmin.post(`${url}test/`, {}).expect(200);
    return body.id as number;
  }

  private async record(id: number): Promise<AttemptedRecord> {
    const row = await this.test.database.row<AttemptedRecord & { [key: string]: unknown }>(sql`
      SELECT n.status, n.error, n.notifications_sent, n.attempts,
        extract(epoch FROM n.next_attempt_at - n.modified)::float8 AS wait,
        n.lease_until IS NOT NULL AS leased,
        (SELECT to_json(a) FROM notification_attempts a
          WHERE a.notification_id = n.id ORDER BY number DESC LIMIT 1) AS attempt
      FROM notifications n WHERE n.id = ${id}`);
    return row!;
  }
}

/** Returns a promise that the test resolves with `open`. */
export function gate(): { open: () => void; passed: Promise<void> } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

/** Returns the subject of a test of the template. */
export const subjectOf = (id: number): string => `Notification Test ${id} ${BASE}`;
export const textOf = (id: number): string => `Test Notification ${id} ${BASE}`;
