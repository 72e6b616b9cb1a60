/**
 * Replaces the clock.
 *
 * @jest-environment node
 */
import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import type { Actor } from '../common/access.js';
import type { RunNewsFeed } from '../runs/live/run-news-feed.service.js';
import { LiveClient, type LiveServices } from './live-client.js';

/** A socket that answers pings, and receives messages, only as long as it is told to. */
class Socket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly codes: (number | 'terminated')[] = [];
  isReading = true;
  answersPings = true;

  send(_message: string, done: () => void): void {
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
const feed = { listen: () => () => undefined } as unknown as RunNewsFeed;

describe('a client', () => {
  let socket: Socket;
  let actor: Actor | null;

  beforeEach(() => {
    jest.useFakeTimers();
    socket = new Socket();
    actor = ACTOR;
  });
  afterEach(() => jest.useRealTimers());

  function serve(): void {
    const caller = { request: { headers: {}, secure: false }, authenticate: async () => actor };
    const services = { feed } as LiveServices;
    const client = new LiveClient(socket as unknown as WebSocket, caller, services);
    void client.serve(new AbortController().signal);
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

  it('is disconnected soon after its session has ended, though there is no news', async () => {
    serve();
    await jest.advanceTimersByTimeAsync(10_000);
    actor = null;
    await jest.advanceTimersByTimeAsync(3000);
    expect(socket.codes).toEqual([1008]);
  });
});
