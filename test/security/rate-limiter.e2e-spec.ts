/**
 * A rate limit permits exactly its number of uses per minute, across processes, and permits all if Redis is
 * down.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { TooManyRequests } from '../../src/common/errors/errors.js';
import { RedisConnection } from '../../src/common/queue/redis-connection.service.js';
import { RateLimiter } from '../../src/common/rate/rate-limiter.service.js';
import { Settings } from '../../src/config/settings.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

/**
 * Limit small enough for Redis to respond to all uses before the limiter's timeout, even on a busy machine.
 */
const LIMIT = 20;

let test: TestApp;
let connections: RedisConnection[] = [];
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());
afterEach(() => {
  jest.restoreAllMocks();
  for (const connection of connections) connection.onApplicationShutdown();
  connections = [];
});

/** Creates a limiter with a connection of its own, like that of another process. */
async function limiter(url?: string): Promise<RateLimiter> {
  const settings = test.app.get(Settings, { strict: false });
  const { QUEUE_PREFIX } = settings;
  const own = { QUEUE_PREFIX, REDIS_URL: url ?? settings.REDIS_URL } as Settings;
  const connection = new RedisConnection(own);
  connections.push(connection);
  await eventually(() => expect(connection.client.status).toBe('ready'));
  return new RateLimiter(connection);
}

/** Collects the headers that `take` sets. */
class Headers {
  readonly values: Record<string, unknown> = {};
  setHeader(name: string, value: unknown): void {
    this.values[name] = value;
  }
}

interface Use {
  isTaken: boolean;
  remaining: unknown;
}

async function take(from: RateLimiter, subject: string): Promise<Use> {
  const headers = new Headers();
  const isTaken = await from.take('test', subject, LIMIT, headers as never).then(
    () => true,
    (error: unknown) => {
      if (error instanceof TooManyRequests) return false;
      throw error;
    },
  );
  return { isTaken, remaining: headers.values['X-RateLimit-Remaining'] };
}

describe('simultaneous requests', () => {
  it('are permitted up to the limit, across processes', async () => {
    const limiters = [await limiter(), await limiter(), await limiter()];
    // The limit is per minute: the clock stands still so that no new minute begins.
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2031, 0, 1, 0, 0, 30));
    const uses = await Promise.all(
      Array.from({ length: 3 * LIMIT }, (_, index) => take(limiters[index % 3]!, 'crowd')),
    );
    const taken = uses.filter(({ isTaken }) => isTaken);
    expect(taken).toHaveLength(LIMIT);
    const counts = taken.map(({ remaining }) => remaining as number).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: LIMIT }, (_, index) => index));
    expect(uses.filter(({ isTaken }) => !isTaken).every(({ remaining }) => remaining === 0)).toBe(
      true,
    );
  });

  it('of one subject do not count for another', async () => {
    const one = await limiter();
    const uses = await Promise.all(
      Array.from({ length: 2 * LIMIT }, (_, index) => take(one, index % 2 ? 'left' : 'right')),
    );
    expect(uses.every(({ isTaken }) => isTaken)).toBe(true);
  });

  it('are permitted again in the next minute', async () => {
    const one = await limiter();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2031, 0, 1, 0, 1, 59));
    await Promise.all(Array.from({ length: LIMIT }, () => take(one, 'late')));
    expect((await take(one, 'late')).isTaken).toBe(false);
    clock.mockReturnValue(Date.UTC(2031, 0, 1, 0, 2, 0));
    expect(await take(one, 'late')).toEqual({ isTaken: true, remaining: LIMIT - 1 });
  });
});

describe('without a response of Redis', () => {
  let relay: Server;
  let isSilent = false;
  const open = new Set<Socket>();

  beforeAll(async () => {
    const { hostname, port } = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
    relay = createServer((near) => {
      const far = connect(Number(port || 6379), hostname);
      for (const socket of [near, far]) {
        open.add(socket);
        socket.on('error', () => undefined);
      }
      near.on('data', (chunk) => void (isSilent || far.write(chunk)));
      far.on('data', (chunk) => void (isSilent || near.write(chunk)));
      near.on('close', () => far.destroy());
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    for (const socket of open) socket.destroy();
    relay.close();
  });

  it('requests are not limited and not delayed', async () => {
    const { port } = relay.address() as AddressInfo;
    const url = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
    url.host = `127.0.0.1:${port}`;
    const one = await limiter(url.href);
    expect((await take(one, 'silence')).remaining).toBe(LIMIT - 1);
    isSilent = true;
    const started = performance.now();
    const uses = await Promise.all(Array.from({ length: 2 * LIMIT }, () => take(one, 'silence')));
    expect(uses.every(({ isTaken }) => isTaken)).toBe(true);
    expect(performance.now() - started).toBeLessThan(3000);
    for (const socket of open) socket.destroy();
    expect((await take(one, 'silence')).isTaken).toBe(true);
  });
});
