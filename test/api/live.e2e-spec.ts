import { get as request, type IncomingMessage } from 'node:http';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { ident, sql } from '../../src/database/sql.js';
import { RunSignals } from '../../src/runs/run-signals.service.js';
import { StreamSlots } from '../../src/runs/live/stream-slots.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { Samples } from '../support/samples.js';

interface Message {
  event: string;
  id?: number;
  data: Record<string, unknown>;
}

/** Client of a stream, with the text received so far. */
class Listener {
  text = '';
  isEnded = false;

  private constructor(readonly answer: IncomingMessage) {
    answer.setEncoding('utf8');
    answer.on('data', (part: string) => (this.text += part));
    answer.on('close', () => (this.isEnded = true));
    answer.on('error', () => undefined);
  }

  static open(path: string, headers: Record<string, string>, { url } = test): Promise<Listener> {
    return new Promise((resolve, reject) => {
      request(`${url}/api/v2/${path}`, { headers, agent: false }, (answer) =>
        resolve(new Listener(answer)),
      ).on('error', reject);
    });
  }

  get messages(): Message[] {
    return this.text.split('\n\n').flatMap((block) => {
      const lines = block.split('\n').map((line) => line.split(/: (.*)/s));
      const parts = Object.fromEntries(lines) as Record<string, string>;
      if (!parts.event) return [];
      const data = JSON.parse(parts.data!) as Message['data'];
      return [{ event: parts.event, data, ...(parts.id ? { id: Number(parts.id) } : {}) }];
    });
  }

  get counters(): (number | undefined)[] {
    return this.messages.filter(({ event }) => event === 'job_event').map(({ id }) => id);
  }

  get statuses(): unknown[] {
    return this.messages.filter(({ event }) => event === 'status').map(({ data }) => data.status);
  }

  close(): void {
    this.answer.destroy();
  }
}

let test: TestApp;
let samples: Samples;
const headers: Record<string, Record<string, string>> = {};
const listeners: Listener[] = [];

beforeAll(async () => {
  test = await boot({ settings: { STREAMS_PER_USER: '5' } });
  samples = new Samples(test);
  for (const name of ['superuser', 'nobody', 'orgMember'] as const) {
    headers[name] = { Authorization: `Bearer ${await test.make.token(test.as.users[name])}` };
  }
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});
afterAll(() => test.close());

async function listen(path: string, more: Record<string, string> = {}): Promise<Listener> {
  const listener = await Listener.open(path, { ...headers.superuser, ...more });
  listeners.push(listener);
  return listener;
}

async function makeJob(status = 'running'): Promise<Row> {
  const template = (await samples.of('job_template')).id;
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, organization_id)
    VALUES ('job', 'Watched', ${status}, ${template}, ${test.home.organization.id}) RETURNING *`))!;
}

async function addEvents(job: Row, from: number, to: number, text = 'line '): Promise<void> {
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, stdout, start_line, end_line)
    SELECT ${job.id}, n, 'runner_on_ok', '{}', ${text}::text || n, n - 1, n
    FROM generate_series(${from}::int, ${to}::int) AS n`);
}

const sessions = (): SessionsService => test.app.get(SessionsService, { strict: false });
const signals = (): RunSignals => test.app.get(RunSignals, { strict: false });
const finish = (job: Row): Promise<unknown> =>
  test.app
    .get(RunTransitions, { strict: false })
    .move([job.id], { from: ['running'], to: 'successful' });
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_one, index) => from + index);

describe('live events', () => {
  it('contain existing events, then new ones, and end after the final status', async () => {
    const job = await makeJob();
    await addEvents(job, 1, 3);
    const listener = await listen(`jobs/${job.id}/events/stream/`);
    expect(listener.answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    await eventually(() => expect(listener.counters).toEqual([1, 2, 3]));
    expect(listener.statuses).toEqual(['running']);

    await addEvents(job, 4, 260);
    signals().announce([[job.id, { counter: 260 }]]);
    await eventually(() => expect(listener.counters).toEqual(range(1, 260)));

    await addEvents(job, 261, 262);
    await finish(job);
    await eventually(() => expect(listener.isEnded).toBe(true));
    expect(listener.counters).toEqual(range(1, 262));
    expect(listener.messages.slice(-2)).toMatchObject([
      { event: 'status', data: { id: job.id, status: 'successful', failed: false } },
      { event: 'end', data: { status: 'successful' } },
    ]);
  });

  it('contain the nodes of a workflow job when they change', async () => {
    const { database, home } = test;
    const run = (type: string, status: string): Promise<Row | undefined> =>
      database.row<Row>(sql`
        INSERT INTO unified_jobs (type, name, status, organization_id)
        VALUES (${type}, 'Watched', ${status}, ${home.organization.id}) RETURNING *`);
    const workflow = (await run('workflow_job', 'running'))!;
    const job = (await run('job', 'pending'))!;
    const node = (await database.row<Row>(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, identifier, job_id)
      VALUES (${workflow.id}, 'one', ${job.id}) RETURNING id`))!;
    const listener = await listen(`workflow_jobs/${workflow.id}/events/stream/`);
    const states = (): unknown[] =>
      listener.messages.filter(({ event }) => event === 'node').map(({ data }) => data);
    await eventually(() =>
      expect(states()).toEqual([{ id: node.id, job: job.id, status: 'pending' }]),
    );
    const move = test.app.get(RunTransitions, { strict: false });
    await move.move([job.id], { from: ['pending'], to: 'running' });
    await eventually(() => expect(states().at(-1)).toMatchObject({ status: 'running' }));
    await finish(job);
    await finish(workflow);
    await eventually(() => expect(listener.isEnded).toBe(true));
    expect(states().map((one) => (one as { status: string }).status)).toEqual([
      'pending',
      'running',
      'successful',
    ]);
    expect(listener.messages.at(-1)).toMatchObject({
      event: 'end',
      data: { status: 'successful' },
    });
  });

  it('have the same form as in the list', async () => {
    const job = await makeJob('successful');
    await addEvents(job, 1, 2);
    const listener = await listen(`jobs/${job.id}/events/stream/`);
    await eventually(() => expect(listener.isEnded).toBe(true));
    const { body } = await test.as.superuser.get(`jobs/${job.id}/job_events/`).expect(200);
    const events = listener.messages.filter(({ event }) => event === 'job_event');
    expect(events.map(({ data }) => data)).toEqual(body.results);
  });

  it.each([
    ['Last-Event-ID', '', { 'Last-Event-ID': '2' }],
    ['after', '?after=2', {}],
    ['after, as our pages ask', '?after=2&no_truncate=1', {}],
    ['Last-Event-ID rather than after', '?after=1', { 'Last-Event-ID': '2' }],
  ])('resume by %s', async (_case, query, more) => {
    const job = await makeJob('failed');
    await addEvents(job, 1, 4);
    const listener = await listen(
      `jobs/${job.id}/events/stream/${query}`,
      more as Record<string, string>,
    );
    await eventually(() => expect(listener.isEnded).toBe(true));
    expect(listener.counters).toEqual([3, 4]);
    expect(listener.statuses).toEqual(['failed']);
  });

  it('are found even if a message is lost', async () => {
    const job = await makeJob();
    const listener = await listen(`jobs/${job.id}/events/stream/`);
    await eventually(() => expect(listener.statuses).toEqual(['running']));
    await addEvents(job, 1, 1);
    await eventually(() => expect(listener.counters).toEqual([1]), 8000);
  }, 15_000);

  it('support project updates', async () => {
    const update = await samples.of('project_update');
    const listener = await listen(`project_updates/${update.id}/events/stream/`);
    await eventually(() => expect(listener.isEnded).toBe(true));
    expect(listener.statuses).toEqual(['successful']);
  });

  it('return no body for HEAD', async () => {
    const job = await makeJob();
    await test.as.superuser.head(`jobs/${job.id}/events/stream/`).expect(200);
  });
});

describe('live events are refused', () => {
  it('for users who may not read the run, and for unknown runs', async () => {
    const job = await makeJob();
    const path = `jobs/${job.id}/events/stream/`;
    await test.as.anonymous.get(path).expect(401);
    await test.as.nobody.get(path).expect(403);
    await test.as.superuser.get('jobs/999999999/events/stream/').expect(404);
    const update = await samples.of('project_update');
    await test.as.superuser.get(`jobs/${update.id}/events/stream/`).expect(404);
  });

  it.each(['-1', 'x', '1.5', '9'.repeat(20)])('at the position %s', async (place) => {
    const job = await makeJob();
    const path = `jobs/${job.id}/events/stream/`;
    const { body } = await test.as.superuser.get(`${path}?after=${place}`).expect(400);
    expect(body.detail).toBe('Last-Event-ID and after must be whole numbers.');
    await test.as.superuser.with({ 'Last-Event-ID': place }).get(path).expect(400);
  });

  it('for a user with too many open streams, until one is closed', async () => {
    const job = await makeJob();
    const path = `jobs/${job.id}/events/stream/`;
    // Streams of other tests, which may still be closing, belong to another user.
    const user = await test.make.user({ is_superuser: true });
    const Authorization = `Bearer ${await test.make.token(user)}`;
    for (let open = 0; open < 5; open += 1) await listen(path, { Authorization });
    const busy = test.as.anonymous.with({ Authorization });
    const { headers: refused } = await busy.get(path).expect(429);
    expect(refused['retry-after']).toBe('15');
    listeners.pop()!.close();
    await eventually(async () => {
      const { answer } = await listen(path, { Authorization });
      expect(answer.statusCode).toBe(200);
    });
  });

  describe('after the next check, if', () => {
    const bearer = async (user: Row): Promise<Record<string, string>> => ({
      Authorization: `Bearer ${await test.make.token(user)}`,
    });
    const password = 'a long enough password';
    const reader = async (): Promise<Row> => {
      const user = await test.make.user({ username: `reader-${Math.random()}`, password });
      const template = await samples.of('job_template');
      await test.make.grant('job_template', template, 'read_role', { user });
      return user;
    };
    const superuser = () => test.make.user({ is_superuser: true });
    type Proof = (user: Row) => Promise<Record<string, string>>;
    const session: Proof = async ({ id }) => ({
      Cookie: `controller_session=${await sessions().start(Number(id))}`,
    });
    const byPassword: Proof = async ({ username }) => ({
      Authorization: `Basic ${Buffer.from(`${String(username)}:${password}`).toString('base64')}`,
    });
    const remove = (table: string) => (user: Row) =>
      test.database.execute(sql`DELETE FROM ${ident(table)} WHERE user_id = ${user.id}`);
    const revoke = async (user: Row) => {
      const template = await samples.of('job_template');
      await test.make.revoke('job_template', template, 'read_role', { user });
    };
    const expire = ({ id }: Row) =>
      test.database.execute(sql`UPDATE tokens SET expires = now() WHERE user_id = ${id}`);
    const demote = ({ id }: Row) =>
      test.database.execute(sql`UPDATE users SET is_superuser = false WHERE id = ${id}`);
    const leave = ({ id }: Row) => test.as.superuser.delete(`users/${id}/`).expect(204);
    const change = ({ id }: Row) =>
      test.as.superuser.patch(`users/${id}/`, { password: 'another password' }).expect(200);

    type Loss = [name: string, () => Promise<Row>, Proof, (user: Row) => Promise<unknown>];
    const losses: Loss[] = [
      ['the role is revoked', reader, bearer, revoke],
      ['the token is deleted', superuser, bearer, remove('tokens')],
      ['the token expires', superuser, bearer, expire],
      ['the user is deleted', superuser, bearer, leave],
      ['the superuser flag is taken away', superuser, bearer, demote],
      ['the session ends', superuser, session, remove('sessions')],
      ['the password is changed', reader, byPassword, change],
    ];

    it.each(losses)('%s', async (_case, who, proof, loss) => {
      const job = await makeJob();
      await addEvents(job, 1, 1);
      const user = await who();
      const listener = await listen(`jobs/${job.id}/events/stream/`, {
        Authorization: '',
        ...(await proof(user)),
      });
      // Without another signal, the stream checks the permission again only after the loss.
      await eventually(() => expect(listener.counters).toEqual([1]));
      await loss(user);
      await addEvents(job, 2, 2);
      signals().announce([[job.id, { counter: 2 }]]);
      await eventually(() => expect(listener.isEnded).toBe(true), 8000);
      expect(listener.counters).toEqual([1]);
    });

    it('workflow jobs send no further nodes', async () => {
      const workflow = (await test.database.row<Row>(sql`
        INSERT INTO unified_jobs (type, name, status, organization_id)
        VALUES ('workflow_job', 'Watched', 'running', ${test.home.organization.id}) RETURNING *`))!;
      const user = await superuser();
      const listener = await listen(
        `workflow_jobs/${workflow.id}/events/stream/`,
        await bearer(user),
      );
      await eventually(() => expect(listener.statuses).toEqual(['running']));
      await test.database.execute(sql`DELETE FROM tokens WHERE user_id = ${user.id}`);
      await eventually(() => expect(listener.isEnded).toBe(true), 8000);
    });

    it('a slow client gets neither all events nor a complete download', async () => {
      const job = await makeJob();
      await addEvents(job, 1, 6000, 'x'.repeat(2000));
      for (const path of [
        `jobs/${job.id}/events/stream/`,
        `jobs/${job.id}/stdout/?format=txt_download`,
      ]) {
        const user = await superuser();
        const listener = await listen(path, await bearer(user));
        listener.answer.pause();
        await test.database.execute(sql`DELETE FROM tokens WHERE user_id = ${user.id}`);
        listener.answer.resume();
        await eventually(() => expect(listener.isEnded).toBe(true), 8000);
        expect(listener.text.length).toBeLessThan(6000 * 2000);
      }
    });
  });

  it('a silent stream does not prolong the session after a minute', async () => {
    const find = jest.spyOn(sessions(), 'find');
    const job = await makeJob();
    const user = await test.make.user({ is_superuser: true });
    const cookie = await sessions().start(Number(user.id));
    const listener = await listen(`jobs/${job.id}/events/stream/`, {
      Authorization: '',
      Cookie: `controller_session=${cookie}`,
    });
    await eventually(() => expect(listener.statuses).toEqual(['running']));
    await test.database.execute(sql`
      UPDATE sessions SET last_seen = now() - interval '2 minutes' WHERE user_id = ${user.id}`);
    find.mockClear();
    signals().announce([[job.id, { counter: 1 }]]);
    await eventually(() => expect(find).toHaveBeenCalled());
    await addEvents(job, 1, 1);
    signals().announce([[job.id, { counter: 1 }]]);
    await eventually(() => expect(listener.counters).toEqual([1]));
    const { isOld } = (await test.database.row<{ isOld: boolean }>(sql`
      SELECT last_seen < now() - interval '1 minute' AS "isOld" FROM sessions
      WHERE user_id = ${user.id}`))!;
    expect(isOld).toBe(true);
    find.mockRestore();
  });
});

it('all streams end at shutdown', async () => {
  const leaving = await boot({ own: true });
  try {
    const job = await new Samples(leaving).of('job');
    await leaving.database.execute(sql`
      UPDATE unified_jobs SET status = 'running' WHERE id = ${job.id}`);
    const token = await leaving.make.token(leaving.as.users.superuser);
    const path = `jobs/${job.id}/events/stream/`;
    const listener = await Listener.open(path, { Authorization: `Bearer ${token}` }, leaving);
    await eventually(() => expect(listener.statuses).toEqual(['running']));
    leaving.app.get(StreamSlots, { strict: false }).beforeApplicationShutdown();
    await eventually(() => expect(listener.isEnded).toBe(true));
    expect(listener.messages.some(({ event }) => event === 'end')).toBe(false);
  } finally {
    await leaving.close();
  }
});
