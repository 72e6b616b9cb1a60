/**
 * Budget: 30 s, because workers start, are killed and start again.
 */
import { issueToken } from '../../src/common/crypto/tokens.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { Cluster } from './support/cluster.js';
import { printFigures } from './support/figures.js';

const NOTIFICATIONS = 40;
const OUTBOUND = { OUTBOUND_ALLOW: '127.0.0.0/8' };

/** A worker is killed between sending a notification and recording the result. */
describe('a notifier that dies', () => {
  let cluster: Cluster;
  let sink: HttpSink;

  beforeAll(async () => {
    sink = await HttpSink.start();
    cluster = await Cluster.start({ fakeSeconds: 0 });
  });

  afterAll(async () => {
    await cluster.stop();
    await sink.close();
  });

  /**
   * Sends the given number of tests of a webhook through the API.
   * @returns the ids of the records
   */
  async function fire(count: number): Promise<number[]> {
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest],
    );
    const { url } = await cluster.apiInside({ NOTIFICATION_TEST_RATE: '1000' });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const post = async (path: string, body: object): Promise<{ id: number }> => {
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${url}/api/v2/${path}`, request)).json() as Promise<{ id: number }>;
    };
    const template = await post('notification_templates/', {
      name: 'hook',
      organization: 1,
      notification_type: 'webhook',
      notification_configuration: { url: `${sink.url}/hook`, headers: {} },
    });
    const ids: number[] = [];
    for (let i = 0; i < count; i++) {
      ids.push((await post(`notification_templates/${template.id}/test/`, {})).id);
    }
    return ids;
  }

  it('after sending, before recording: sent at most twice with one id, recorded once', async () => {
    const first = await cluster.worker({ ...OUTBOUND, FAIL_POINT: 'notification-sent' });
    const ids = await fire(NOTIFICATIONS);
    expect(await first.ended).toBe('SIGKILL');
    expect(sink.requests.length).toBeGreaterThan(0);
    const unrecorded = await cluster.rows(
      `SELECT id FROM notifications WHERE attempts > 0 AND status = 'pending'`,
    );
    expect(unrecorded.length).toBeGreaterThan(0);

    await cluster.forgetTheDead();
    const second = await cluster.worker(OUTBOUND);
    const records = await eventually(async () => {
      const [left] = await cluster.rows(
        `SELECT 1 FROM notifications WHERE status = 'pending' OR next_attempt_at IS NOT NULL`,
      );
      if (left) throw new Error('not over');
      const rows = await cluster.rows<{ id: number; status: string; message_id: string }>(
        'SELECT id, status, message_id, notifications_sent FROM notifications ORDER BY id',
      );
      return rows;
    }, 200_000);

    expect(records.map(({ id }) => id)).toEqual(ids);
    const sent = new Map<string, number>();
    for (const { headers } of sink.requests) {
      const id = String(headers['webhook-id']);
      sent.set(id, (sent.get(id) ?? 0) + 1);
    }
    expect([...sent.keys()].sort()).toEqual(records.map((record) => record.message_id).sort());
    expect(Math.max(...sent.values())).toBeLessThanOrEqual(2);
    expect(records).toEqual(
      records.map((record) => ({ ...record, status: 'successful', notifications_sent: 1 })),
    );

    // Every notification sent twice has two attempts, and the first one records what is known about it.
    const attempts = await cluster.rows<{ message_id: string; number: number; detail: string }>(
      `SELECT n.message_id, a.number, a.successful, a.detail
       FROM notification_attempts a JOIN notifications n ON n.id = a.notification_id
       ORDER BY n.id, a.number`,
    );
    const twice = [...sent].filter(([, count]) => count === 2).map(([id]) => id);
    expect(twice.length).toBeGreaterThan(0);
    for (const id of twice) {
      expect(attempts.filter(({ message_id }) => message_id === id)).toMatchObject([
        { successful: false, detail: 'The worker ended before the outcome was known.' },
        { successful: true },
      ]);
    }
    printFigures('notifier killed after sending', {
      accepted: ids.length,
      finished: records.length,
      lost: ids.length - sent.size,
      doubled: records.length - new Set(records.map(({ id }) => id)).size,
    });
    second.child.kill('SIGTERM');
    await second.ended;
  });
});
