import { SessionsService } from '../../src/auth/sessions.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunSignals } from '../../src/runs/run-signals.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { removeInventory } from '../support/inventory-deletion.js';
import { LiveListener, type Groups } from '../support/live-listener.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
const listeners: LiveListener[] = [];

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterEach(() => {
  for (const { socket } of listeners.splice(0)) socket.terminate();
});
afterAll(() => test.close());

const find = <Service>(type: abstract new (...given: never[]) => Service): Service =>
  test.app.get(type, { strict: false });
const sessionOf = async ({ id }: Row): Promise<string> =>
  `controller_session=${await find(SessionsService).start(Number(id))}`;
const open = async (cookie: string, more?: Groups): Promise<LiveListener> => {
  const listener = await LiveListener.open(test.url, cookie, more);
  listeners.push(listener);
  return listener;
};
const listen = async (user: Row): Promise<LiveListener> => open(await sessionOf(user));
const move = (run: Row, from: 'pending' | 'running', to: 'running' | 'successful') =>
  find(RunTransitions).move([run.id], { from: [from], to });
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_one, index) => from + index);

async function makeRun(status = 'pending', type = 'job'): Promise<Row> {
  const template = (await samples.of('job_template')).id;
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      organization_id)
    VALUES (${type}, 'Watched', ${status}, ${template}, ${template},
      ${test.home.organization.id}) RETURNING *`))!;
}

/** Stores events of a run and announces them, as a worker does. */
async function addEvents(run: Row, from: number, to: number, text = 'line '): Promise<void> {
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, stdout, start_line, end_line)
    SELECT ${run.id}, n, 'runner_on_ok', '{}', ${text}::text || n, n - 1, n
    FROM generate_series(${from}::int, ${to}::int) AS n`);
  find(RunSignals).announce([[run.id, { counter: to }]]);
}

describe('a handshake', () => {
  it.each(['/websocket/', '/websocket', '/websocket/?page=2'])('succeeds at %s', async (path) => {
    const user = test.as.users.nobody;
    const listener = await open(await sessionOf(user), { path });
    await eventually(() => expect(listener.messages).toEqual([{ accept: true, user: user.id }]));
  });

  const refusals: [string, () => Promise<Groups>, string][] = [
    ['without a session', async () => ({ Cookie: '' }), '401'],
    ['with an unknown session', async () => ({ Cookie: 'controller_session=acs_x' }), '401'],
    [
      'with a token instead of a session',
      async () => ({
        Cookie: '',
        Authorization: `Bearer ${await test.make.token(test.as.users.superuser)}`,
      }),
      '401',
    ],
    ['from another site', async () => ({ Origin: 'https://elsewhere.example' }), '403'],
    ['from an opaque origin', async () => ({ Origin: 'null' }), '403'],
  ];
  it.each(refusals)('is refused %s', async (_case, headers, status) => {
    const cookie = await sessionOf(test.as.users.superuser);
    await expect(open(cookie, await headers())).rejects.toThrow(status);
  });
});

describe('a subscription', () => {
  it('is confirmed with the groups, and replaced by the next one', async () => {
    const listener = await listen(test.as.users.superuser);
    const run = await makeRun();
    const groups = { jobs: ['status_changed', 'summary'], job_events: [run.id] };
    const all = ['jobs-status_changed', 'jobs-summary', `job_events-${run.id}`];
    expect(await listener.follow(groups)).toEqual({
      groups_current: all,
      groups_left: [],
      groups_joined: all,
    });
    expect(await listener.follow({ jobs: ['status_changed'], schedules: ['changed'] })).toEqual({
      groups_current: ['jobs-status_changed', 'schedules-changed'],
      groups_left: ['jobs-summary', `job_events-${run.id}`],
      groups_joined: ['schedules-changed'],
    });
  });

  it.each([
    ['wrong', { xrftoken: 'x', groups: {} }],
    ['absent', { groups: { jobs: ['status_changed'] } }],
    ['no text', { xrftoken: 1 }],
    ['in no object', 'x'],
  ])('is denied if the token is %s', async (_case, message) => {
    const listener = await listen(test.as.users.superuser);
    listener.send(message);
    await eventually(() => expect(listener.closed).toBe(1008));
    expect(listener.messages.at(-1)).toEqual({ error: 'access denied to channel' });
  });

  it('omits runs that the caller may not read, and those of another type', async () => {
    const run = await makeRun();
    const workflow = await makeRun('pending', 'workflow_job');
    const listener = await listen(test.as.users.nobody);
    expect(await listener.follow({ job_events: [run.id, 999_999_999] })).toMatchObject({
      groups_current: [],
    });
    const denied = (id: number) => ({
      error: `access denied to channel job_events for resource id ${id}`,
    });
    expect(listener.messages).toEqual(
      expect.arrayContaining([denied(run.id), denied(999_999_999)]),
    );
    const other = await listen(test.as.users.superuser);
    expect(await other.follow({ job_events: [workflow.id] })).toMatchObject({ groups_current: [] });
  });
});

describe('statuses', () => {
  it('are sent for readable runs', async () => {
    const run = await makeRun();
    const reader = await test.make.user();
    await test.make.grant('job_template', await samples.of('job_template'), 'read_role', {
      user: reader,
    });
    const [all, own, none] = await Promise.all(
      [test.as.users.superuser, reader, test.as.users.nobody].map(listen),
    );
    for (const one of [all, own, none]) {
      await one!.follow({ jobs: ['status_changed', 'summary'] });
    }
    await move(run, 'pending', 'running');
    for (const one of [all, own]) {
      await eventually(() => expect(one!.statuses(run)).toEqual(['running']));
    }
    await move(run, 'running', 'successful');
    for (const one of [all, own]) {
      await eventually(() => expect(one!.statuses(run)).toEqual(['running', 'successful']));
      await eventually(() =>
        expect(one!.of('jobs').at(-1)).toEqual({
          group_name: 'jobs',
          unified_job_id: run.id,
          summary: true,
          status: 'successful',
          final_counter: 0,
        }),
      );
    }
    expect(all!.of('jobs')[1]).toEqual({
      group_name: 'jobs',
      unified_job_id: run.id,
      type: 'job',
      status: 'successful',
      started: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      finished: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      unified_job_template_id: run.unified_job_template_id,
      job_template_id: run.job_template_id,
    });
    expect(none!.of('jobs')).toEqual([]);
  });
});

it('the launch of a run is its first status', async () => {
  const listener = await listen(test.as.users.superuser);
  await listener.follow({ jobs: ['status_changed'] });
  const template = await samples.of('job_template');
  const { body } = await test.as.superuser.post(`job_templates/${template.id}/launch/`).expect(201);
  await eventually(() => expect(listener.statuses(body as Row)).toEqual(['pending']));
});

it('statuses include the instance group of a run', async () => {
  const listener = await listen(test.as.users.superuser);
  await listener.follow({ jobs: ['status_changed'] });
  const run = await makeRun();
  const group = await test.database.row<Row>(sql`SELECT id, name FROM instance_groups`);
  await find(RunTransitions).move([run.id], {
    ...{ from: ['pending'], to: 'waiting' },
    placements: new Map([[run.id, { hostname: 'here', group: Number(group?.id) }]]),
  });
  await eventually(() =>
    expect(listener.of('jobs').at(-1)).toMatchObject({
      ...{ unified_job_id: run.id, status: 'waiting', instance_group_name: group?.name },
    }),
  );
});

it('deletions of inventories are sent to their readers', async () => {
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  const users = test.as.users;
  const [reader, none] = [await listen(users.orgAdmin), await listen(users.nobody)];
  for (const one of [reader, none]) await one.follow({ inventories: ['status_changed'] });
  await test.as.superuser.delete(`inventories/${inventory.id}/`).expect(202);
  const messageOf = (status: string) => ({
    ...{ group_name: 'inventories', inventory_id: inventory.id, status },
  });
  await eventually(() => expect(reader.of('inventories')).toEqual([messageOf('pending_deletion')]));
  await removeInventory(test, inventory.id);
  await eventually(() =>
    expect(reader.of('inventories')).toEqual([messageOf('pending_deletion'), messageOf('deleted')]),
  );
  await none.follow({});
  expect(none.of('inventories')).toEqual([]);
});

it('changes of schedules are sent to their readers', async () => {
  const template = await samples.of('job_template');
  const [reader, none] = [await listen(test.as.users.orgAdmin), await listen(test.as.users.nobody)];
  for (const one of [reader, none]) await one.follow({ schedules: ['changed'] });
  const { body } = await test.as.superuser
    .post(`job_templates/${template.id}/schedules/`, {
      name: 'Watched',
      rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
    })
    .expect(201);
  const message = { group_name: 'schedules', id: (body as Row).id };
  await eventually(() => expect(reader.of('schedules')).toEqual([message]));
  await test.as.superuser.patch(`schedules/${(body as Row).id}/`, { enabled: false }).expect(200);
  await eventually(() => expect(reader.of('schedules')).toEqual([message, message]));
  await none.follow({});
  expect(none.of('schedules')).toEqual([]);
});

describe('events', () => {
  it('are sent after the subscription, each once, in order, before the last status', async () => {
    const run = await makeRun('running');
    await addEvents(run, 1, 3);
    const listener = await listen(test.as.users.superuser);
    await listener.follow({ jobs: ['status_changed'], job_events: [run.id] });
    await addEvents(run, 4, 260);
    await eventually(() => expect(listener.counters).toEqual(range(4, 260)));
    await addEvents(run, 261, 262);
    await listener.follow({ jobs: ['status_changed'], job_events: [String(run.id)] });
    await move(run, 'running', 'successful');
    await eventually(() =>
      expect(listener.messages.at(-1)).toMatchObject({ group_name: 'jobs', status: 'successful' }),
    );
    expect(listener.counters).toEqual(range(4, 262));
  });

  it('have the same form as in the list', async () => {
    const run = await makeRun('running');
    const listener = await listen(test.as.users.superuser);
    await listener.follow({ job_events: [run.id] });
    await addEvents(run, 1, 2);
    await eventually(() => expect(listener.counters).toEqual([1, 2]));
    const { body } = await test.as.superuser.get(`jobs/${run.id}/job_events/`).expect(200);
    expect(listener.of('job_events')).toEqual(
      (body.results as object[]).map((event) => ({ ...event, group_name: 'job_events' })),
    );
  });

  it('of updates are sent with the name of their type', async () => {
    const update = await makeRun('running', 'project_update');
    const listener = await listen(test.as.users.superuser);
    await listener.follow({ project_update_events: [update.id] });
    await addEvents(update, 1, 1);
    await eventually(() =>
      expect(listener.of('project_update_events')).toMatchObject([
        { counter: 1, project_update: update.id },
      ]),
    );
  });

  it('of a workflow job are the statuses of its nodes', async () => {
    const { database } = test;
    const [workflow, run, approval] = [
      await makeRun('running', 'workflow_job'),
      await makeRun(),
      await makeRun('pending', 'workflow_approval'),
    ];
    const [node] = await database.rows<Row>(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, identifier, job_id)
      VALUES (${workflow.id}, 'one', ${run.id}), (${workflow.id}, 'two', ${approval.id})
      RETURNING id`);
    const listener = await listen(test.as.users.superuser);
    await listener.follow({ workflow_events: [workflow.id] });
    await move(run, 'pending', 'running');
    await find(RunTransitions).move([approval.id], { from: ['pending'], to: 'successful' });
    await eventually(() => {
      expect(listener.statuses(run, 'workflow_events')).toEqual(['running']);
      expect(listener.statuses(approval, 'workflow_events')).toEqual(['successful']);
    });
    expect(listener.of('workflow_events')[0]).toMatchObject({
      type: 'job',
      workflow_job_id: workflow.id,
      workflow_node_id: node!.id,
    });
    expect(listener.of('jobs')).toEqual([]);
  });
});

describe('nothing more is sent, if', () => {
  const reader = async (): Promise<Row> => {
    const user = await test.make.user();
    await test.make.grant('job_template', await samples.of('job_template'), 'read_role', { user });
    return user;
  };
  const superuser = () => test.make.user({ is_superuser: true });
  const revoke = async (user: Row) =>
    test.make.revoke('job_template', await samples.of('job_template'), 'read_role', { user });
  const endSession = ({ id }: Row) =>
    test.database.execute(sql`DELETE FROM sessions WHERE user_id = ${id}`);
  const demote = ({ id }: Row) =>
    test.database.execute(sql`UPDATE users SET is_superuser = false WHERE id = ${id}`);
  const leave = ({ id }: Row) => test.as.superuser.delete(`users/${id}/`).expect(204);

  it.each([
    ['the role is revoked', reader, revoke, undefined],
    ['the superuser flag is taken away', superuser, demote, undefined],
    ['the session ends', superuser, endSession, 1008],
    ['the user is deleted', superuser, leave, 1008],
  ] as const)('%s', async (_case, who, loss, code) => {
    const [run, before] = [await makeRun(), await makeRun()];
    const user = await who();
    const [listener, other] = [await listen(user), await listen(test.as.users.superuser)];
    const groups = { jobs: ['status_changed', 'summary'], job_events: [run.id] };
    for (const one of [listener, other]) await one.follow(groups);
    await addEvents(run, 1, 1);
    await move(before, 'pending', 'running');
    await eventually(() => expect(listener.statuses(before)).toEqual(['running']));
    await eventually(() => expect(listener.counters).toEqual([1]));
    // Once both have arrived, a permission check from before the loss ends soon.
    await loss(user);
    if (code !== undefined) {
      // A check from before the loss can still send what it reads. The next message ends the connection.
      listener.subscribe(groups);
      await eventually(() => expect(listener.closed).toBe(code));
    }
    const seen = listener.messages.length;
    await addEvents(run, 2, 2);
    await move(run, 'pending', 'running');
    await eventually(() => expect(other.counters).toEqual([1, 2]));
    await eventually(() => expect(other.statuses(run)).toContain('running'));
    // The other client got the events by the same messages. The next response comes after this client's
    // permission check.
    if (code === undefined) await listener.follow({});
    expect(listener.messages.slice(seen).filter((one) => 'group_name' in one)).toEqual([]);
  });
});

it('other URLs refuse a websocket', async () => {
  const cookie = await sessionOf(test.as.users.superuser);
  for (const path of ['/websocket/more', '/websockets/', '/api/v2/websocket/']) {
    await expect(open(cookie, { path })).rejects.toThrow('404');
  }
});

describe('a client is disconnected', () => {
  it('that sends a message of more than 64 KiB', async () => {
    const listener = await listen(test.as.users.superuser);
    listener.send('x'.repeat(65_536));
    await eventually(() => expect(listener.closed).toBe(1009));
  });

  it('that does not read its messages', async () => {
    const listener = await listen(test.as.users.superuser);
    for (let count = 0; count < 200; count += 1) listener.send({});
    await eventually(() => expect(listener.closed).toBe(1008));
  });

  it('after it closed its socket, and may open another one', async () => {
    const user = await test.make.user();
    const cookie = await sessionOf(user);
    const sockets = await Promise.all(range(1, 10).map(() => open(cookie)));
    await expect(open(cookie)).rejects.toThrow('429');
    sockets[0]!.socket.close();
    await eventually(() => open(cookie));
  });
});
