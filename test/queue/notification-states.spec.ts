/** The API shows the status of a notification during its attempts (docs/decisions/0038). */
import { sql } from '../../src/database/sql.js';
import { eventually } from '../support/eventually.js';
import { NotificationMatrix, type Sent } from './notification-matrix.js';

/** Response that postpones the next attempt until after the test: the sweeper will not start it before. */
const BUSY = { status: 503, headers: { 'retry-after': '1000' } };
const ERROR = 'Error sending webhook notification: 503';

let matrix: NotificationMatrix;
beforeAll(async () => {
  matrix = await NotificationMatrix.start();
});
afterAll(() => matrix.stop());
afterEach(() => matrix.clean());

interface Shown {
  status: string;
  error: string;
  attempts: number;
  next_attempt_at: string | null;
}

async function shown({ id }: Sent): Promise<Shown> {
  const { body } = await matrix.test.as.orgAdmin.get(`notifications/${id}/`).expect(200);
  return body as Shown;
}

/** Waits until the record is no longer pending and returns it. */
const stateOf = (sent: Sent): Promise<Shown> =>
  eventually(async () => {
    const record = await shown(sent);
    expect(record.status).not.toBe('pending');
    return record;
  }, 10_000);

/** Opens the breaker, as five failures in a row would. */
const openBreaker = ({ id }: { id: number }): Promise<number> =>
  matrix.test.database.execute(sql`
    INSERT INTO outbound_breakers (destination, failures, trips, open_until)
    SELECT destination, 5, 1, now() + interval '10 minutes' FROM notification_templates
    WHERE id = ${id}`);

const breakerOf = async ({ url }: { url: string }): Promise<object> =>
  (await matrix.test.as.orgAdmin.get(url).expect(200)).body.summary_fields
    .circuit_breaker as object;

const workLeft = ({ id }: Sent) =>
  matrix.test.database.rows(sql`
    SELECT 1 FROM outbox WHERE queue = 'notifications' AND subject_id = ${id}`);

describe('a test', () => {
  it('is sent once: it fails with its error, and no retry is planned', async () => {
    const made = await matrix.template('webhook');
    matrix.http.reply(503);
    const sent = await matrix.send(made);
    expect(await stateOf(sent)).toMatchObject({
      status: 'failed',
      error: ERROR,
      attempts: 1,
      next_attempt_at: null,
    });
    expect(await workLeft(sent)).toEqual([]);
    await matrix.passTime(sent);
    expect(matrix.http.requests).toHaveLength(1);
    const { body } = await matrix.test.as.orgAdmin.get(made.url).expect(200);
    expect(body.summary_fields.recent_notifications).toMatchObject([
      { id: sent.id, status: 'failed', error: ERROR },
    ]);
  });

  it('ignores a paused destination, and resumes it after a success', async () => {
    const made = await matrix.template('webhook');
    await openBreaker(made);
    matrix.http.reply(503);
    expect(await stateOf(await matrix.send(made))).toMatchObject({ status: 'failed', attempts: 1 });
    await eventually(async () =>
      expect(await breakerOf(made)).toMatchObject({ state: 'open', failures: 6 }),
    );
    expect(await stateOf(await matrix.send(made))).toMatchObject({ status: 'successful' });
    await eventually(async () => expect(await breakerOf(made)).toMatchObject({ state: 'closed' }));
  });
});

describe('a notification', () => {
  it('is failed while it waits for a retry, and successful after a retry succeeds', async () => {
    matrix.http.reply(BUSY, BUSY);
    const sent = await matrix.send(await matrix.template('webhook'), 'error');
    for (const attempts of [1, 2]) {
      const record = await eventually(async () => {
        const found = await shown(sent);
        expect(found).toMatchObject({ status: 'failed', error: ERROR, attempts });
        return found;
      });
      expect(Date.parse(record.next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 900_000);
      await matrix.passTime(sent);
    }
    const over = await eventually(async () => {
      const found = await shown(sent);
      expect(found.status).toBe('successful');
      return found;
    });
    expect(over).toMatchObject({ error: '', attempts: 3, next_attempt_at: null });
    expect(await workLeft(sent)).toEqual([]);
  });

  it('can be filtered by its status and planned retry, and is counted', async () => {
    const made = await matrix.template('webhook');
    matrix.http.reply(BUSY, 400);
    const again = await matrix.send(made, 'error');
    await stateOf(again);
    const final = await matrix.send(made, 'error');
    await stateOf(final);
    const found = async (query: string): Promise<number[]> => {
      const { body } = await matrix.test.as.orgAdmin.get(
        `notifications/?notification_template=${made.id}&${query}`,
      );
      return (body.results as { id: number }[]).map(({ id }) => id);
    };
    expect(await found('status=failed')).toEqual([again.id, final.id]);
    expect(await found('status=failed&next_attempt_at__isnull=false')).toEqual([again.id]);
    expect(await found('status=failed&next_attempt_at__isnull=true')).toEqual([final.id]);
    expect(await found('status=pending')).toEqual([]);
    const { text } = await matrix.test.as.superuser.get('/metrics').expect(200);
    expect(text).toMatch(/^controller_retrying_notifications\{notification_type="webhook"\} 1$/m);
    expect(text).not.toMatch(/^controller_pending_notifications\{/m);
  });

  it('that was not sent yet prevents the deletion of its template', async () => {
    const made = await matrix.template('webhook');
    await openBreaker(made);
    const held = await matrix.send(made, 'error');
    const record = await eventually(async () => {
      const found = await shown(held);
      expect(found.next_attempt_at).not.toBeNull();
      return found;
    });
    expect(record).toMatchObject({ status: 'failed', attempts: 0 });
    // State between the event and the first attempt.
    await matrix.test.database.execute(
      sql`UPDATE notifications SET status = 'pending' WHERE id = ${held.id}`,
    );
    const { body } = await matrix.test.as.orgAdmin.delete(made.url).expect(409);
    expect(body).toEqual({
      detail: `Delete not allowed while there are pending notifications: notification ${held.id}.`,
    });
  });

  it('that failed is deleted with its template, including its planned retry', async () => {
    const made = await matrix.template('webhook');
    matrix.http.reply(BUSY);
    const sent = await matrix.send(made, 'error');
    await stateOf(sent);
    await matrix.test.as.orgAdmin.delete(made.url).expect(204);
    await matrix.test.as.orgAdmin.get(`notifications/${sent.id}/`).expect(404);
    await matrix.passTime(sent);
    expect(await workLeft(sent)).toEqual([]);
    expect(matrix.http.requests).toHaveLength(1);
  });

  it('is not resent while a retry is planned', async () => {
    const made = await matrix.template('webhook');
    matrix.http.reply(BUSY);
    const sent = await matrix.send(made, 'error');
    await stateOf(sent);
    const { orgAdmin } = matrix.test.as;
    const one = await orgAdmin.post(`notifications/${sent.id}/resend/`).expect(409);
    expect(one.body).toEqual({ detail: 'The notification is still being sent.' });
    const path = `${made.url}resend/?dry_run=1`;
    const range = await orgAdmin.post(path, { from: '2020-01-01' }).expect(200);
    expect(range.body).toMatchObject({ count: 0, notifications: [] });
  });
});
