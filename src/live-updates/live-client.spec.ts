/**
 * Replaces the clock.
 *
 * @jest-environment node
 */
import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import type { Actor } from '../common/access.js';
import { csrfTokenOf } from '../common/http/csrf.js';
import { SCHEDULE_CHANNEL, STATUS_CHANNEL } from '../runs/run-signals.service.js';
import '../schedules/schedules.resource.js';
import { LiveClient, type LiveServices } from './live-client.js';

/** Socket that answers pings while `answersPings` is set, and receives messages while `isReading` is set. */
class Socket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly codes: (number | 'terminated')[] = [];
  isReading = true;
  answersPings = true;
  readonly received: Record<string, unknown>[] = [];

  send(message: string, done: () => void): void {
    this.received.push(JSON.parse(message) as Record<string, unknown>);
    if (this.isReading) done();
  }

  ping(): void {
    if (this.answersPings) this.emit('pong');
  }

  close(code: number): void {
    this.codes.push(code);
    this.readyState = 3;
  }

  terminate(): void {
    this.codes.push('terminated');
    this.readyState = 3;
  }
}

const ACTOR: Actor = { id: 1, username: 'one', isSuperuser: false, isSystemAuditor: false };
const TOKEN = csrfTokenOf('s');
const headers = { cookie: `controller_session=s; csrftoken=${TOKEN}` };
const run = (id: number) => ({ id, type: 'job', status: 'running', may_read: id % 2 === 0 });

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

/** Lists schedules in pages of two, as if MAX_PAGE_SIZE was 2. */
async function listSchedules(_definition: unknown, query: { id__in: string }) {
  const ids = query.id__in.split(',').map(Number);
  return { results: ids.slice(0, 2).map((id) => ({ id })), hasNext: ids.length > 2 };
}

describe('a websocket client', () => {
  let socket: Socket;
  let actor: Actor | null;
  let listeners: Map<string, (message?: string) => void>;
  const live = jest.fn((ids: number[]) => Promise.resolve(ids.map(run)));

  beforeEach(() => {
    jest.useFakeTimers();
    socket = new Socket();
    actor = ACTOR;
    listeners = new Map();
    live.mockClear();
  });
  afterEach(() => jest.useRealTimers());

  function serve(): void {
    const caller = { request: { headers, secure: false }, authenticate: async () => actor };
    const listen = (channel: string, listener: (message?: string) => void) => {
      listeners.set(channel, listener);
      return () => undefined;
    };
    const runEvents = { lastCounters: async () => new Map() };
    const services = {
      ...{ feed: { listen }, runs: { live }, runEvents },
      services: { resources: { list: listSchedules } },
    } as unknown as LiveServices;
    const client = new LiveClient(socket as unknown as WebSocket, caller, services);
    void client.serve(new AbortController().signal);
  }

  /** Serves the client, and waits until the client receives statuses. */
  async function serveStatuses(): Promise<void> {
    jest.useRealTimers();
    serve();
    const message = { xrftoken: TOKEN, groups: { jobs: ['status_changed'] } };
    socket.emit('message', Buffer.from(JSON.stringify(message)));
    await until(() => socket.received.some((message) => 'groups_current' in message));
  }

  it('stays connected while it reads and answers pings', async () => {
    serve();
    await jest.advanceTimersByTimeAsync(120_000);
    expect(socket.codes).toEqual([]);
  });

  it('is disconnected when it does not receive a message within ten seconds', async () => {
    socket.isReading = false;
    serve();
    await jest.advanceTimersByTimeAsync(9_900);
    expect(socket.codes).toEqual([]);
    await jest.advanceTimersByTimeAsync(200);
    expect(socket.codes).toEqual(['terminated']);
  });

  it('is disconnected when it does not answer a ping', async () => {
    socket.answersPings = false;
    serve();
    await jest.advanceTimersByTimeAsync(27_000);
    expect(socket.codes).toEqual([]);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(socket.codes).toEqual(['terminated']);
  });

  it('is disconnected soon after its session ended, even without events', async () => {
    serve();
    await jest.advanceTimersByTimeAsync(10_000);
    actor = null;
    await jest.advanceTimersByTimeAsync(3000);
    expect(socket.codes).toEqual([1008]);
  });

  it('receives no change that comes after its session ended', async () => {
    await serveStatuses();
    actor = null;
    listeners.get(STATUS_CHANNEL)?.('[2]');
    await until(() => socket.codes.length > 0);
    expect(socket.codes).toEqual([1008]);
    expect(socket.received.filter((message) => 'group_name' in message)).toEqual([]);
  });

  it('receives the status of a run that ended while messages were lost', async () => {
    jest.useRealTimers();
    serve();
    const message = { xrftoken: TOKEN, groups: { jobs: ['status_changed'] } };
    socket.emit('message', Buffer.from(JSON.stringify(message)));
    await until(() => socket.received.some((message) => 'groups_current' in message));
    listeners.get(STATUS_CHANNEL)?.('[2]');
    await until(() => socket.received.some(({ status }) => status === 'running'));
    live.mockImplementationOnce(async (ids) => ids.map((id) => ({ ...run(id), status: 'failed' })));
    listeners.get(STATUS_CHANNEL)?.();
    await until(() => socket.received.some(({ status }) => status === 'failed'));
  });

  it('reads all simultaneous changes of runs in one statement, and receives only readable runs', async () => {
    await serveStatuses();
    for (let id = 1; id <= 150; id += 1) listeners.get(STATUS_CHANNEL)?.(JSON.stringify([id, id]));
    await until(() => socket.received.some(({ unified_job_id: id }) => id === 150));
    expect(live).toHaveBeenCalledTimes(1);
    const ids = socket.received.flatMap(({ unified_job_id: id }) => (id === undefined ? [] : [id]));
    expect(ids).toEqual(Array.from({ length: 75 }, (_one, index) => 2 * (index + 1)));
  });

  it('receives all simultaneous changes of schedules if a page has fewer', async () => {
    jest.useRealTimers();
    serve();
    const message = { xrftoken: TOKEN, groups: { schedules: ['changed'] } };
    socket.emit('message', Buffer.from(JSON.stringify(message)));
    await until(() => socket.received.some((message) => 'groups_current' in message));
    listeners.get(SCHEDULE_CHANNEL)?.('[1,2,3,4,5]');
    await until(() => socket.received.some(({ id }) => id === 5));
    const changes = socket.received.filter(({ group_name: name }) => name === 'schedules');
    expect(changes.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  });
});
