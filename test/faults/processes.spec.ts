/**
 * Budget: 45 s, because seven processes of the API start.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

import WebSocket from 'ws';

import { eventually } from '../support/eventually.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { issueToken, tokenDigest } from '../../src/common/crypto/tokens.js';
import { Cluster } from './support/cluster.js';
import { alive, childrenOf, type Program } from './support/processes.js';

const SIZE = 2;
const CONNECTIONS = 12;
/** Limit on the time until a process serves, which takes some seconds. */
const START_MS = 30_000;

/** Settings of several processes, each of which logs when it serves. */
const SETTINGS = {
  WEB_CONCURRENCY: String(SIZE),
  LOG_LEVEL: 'info',
  CONNECTIONS_PER_ADDRESS: String(CONNECTIONS),
  STREAMS_PER_USER: '2',
};
/** An address that no other request comes from. */
const OWN_ADDRESS = '127.0.0.2';

type Api = Program & { url: string };

/** Several processes of the API behind one port (docs/decisions/0076-api-processes.md). */
describe('processes of the API', () => {
  let cluster: Cluster;
  let api: Api;
  let headers: Record<string, string>;

  beforeAll(async () => {
    cluster = await Cluster.start();
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest],
    );
    // A new connection for each request. The listening process decides which process gets it.
    headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
    api = await cluster.api(SETTINGS);
  });

  afterAll(() => cluster.stop());

  const members = () => childrenOf(api.child.pid);
  const untilAllServe = () =>
    eventually(async () => {
      expect(served(api)).toBeGreaterThanOrEqual(SIZE);
      expect(await members()).toHaveLength(SIZE);
    }, START_MS);
  /** Starts the API again if a test ended it. */
  const serve = async (): Promise<void> => {
    if (api.child.killed) api = await cluster.api(SETTINGS);
    await untilAllServe();
  };
  const get = (path: string) => fetch(`${api.url}${path}`, { headers });

  it('are as many as configured, and share the requests', async () => {
    await serve();
    const before = await ticksOf(await members());
    for (let turn = 0; turn < 30; turn += 1) {
      expect((await get('/api/v2/organizations/')).status).toBe(200);
    }
    const after = await ticksOf(await members());
    expect(after.filter((ticks, index) => ticks > (before[index] ?? 0))).toHaveLength(SIZE);
  });

  it('have common metrics', async () => {
    await serve();
    const invalid = { Connection: 'close', Authorization: 'Bearer nobody' };
    for (let turn = 0; turn < 10; turn += 1) {
      const { status } = await fetch(`${api.url}/api/v2/me/`, { headers: invalid });
      expect(status).toBe(401);
    }
    const text = await (await get('/metrics')).text();
    expect(text).toMatch(/controller_security_events_total\{event="unauthenticated"\} 10\n/);
    expect(text).toMatch(/controller_active_jobs/);
    const json = (await (await get('/api/v2/metrics/')).json()) as Record<string, unknown>;
    expect(json).toHaveProperty('controller_security_events_total');
  });

  it('share one limit of connections for each address', async () => {
    await serve();
    const open: Socket[] = [];
    let closed = 0;
    for (let index = 0; index < CONNECTIONS + 4; index += 1) {
      const port = Number(new URL(api.url).port);
      const socket = connect({ host: '127.0.0.1', port, localAddress: OWN_ADDRESS });
      socket.on('error', () => undefined).once('close', () => (closed += 1));
      await once(socket, 'connect');
      open.push(socket);
    }
    await eventually(() => expect(closed).toBe(4));
    for (const socket of open) socket.destroy();
    await eventually(async () => {
      const options = { localAddress: OWN_ADDRESS, agent: false } as const;
      const request = httpGet(`${api.url}/api/v2/ping/`, options);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.resume().statusCode).toBe(200);
    });
  });

  it('share one limit of live streams for each user', async () => {
    await serve();
    const [id] = await cluster.addJobs(1);
    const path = `/api/v2/jobs/${id}/events/stream/`;
    const ends = new AbortController();
    const answers: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { status } = await fetch(`${api.url}${path}`, { headers, signal: ends.signal });
      answers.push(status);
    }
    ends.abort();
    expect(answers).toEqual([200, 200, 429, 429, 429]);
  });

  /** @returns a socket of the user, or the status of the refused handshake */
  const openSocket = (user: string): Promise<WebSocket | number> =>
    new Promise((resolve, reject) => {
      const cookie = `controller_session=session-of-${user}`;
      const socket = new WebSocket(`${api.url}/websocket/`, { headers: { cookie } });
      socket.on('open', () => resolve(socket)).on('error', reject);
      socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
    });
  const addUser = (user: string) =>
    cluster.rows(
      `WITH usr AS (INSERT INTO users (username) VALUES ($1) RETURNING id)
       INSERT INTO sessions (digest, user_id, generation) SELECT $2, id, 0 FROM usr`,
      [user, tokenDigest(`session-of-${user}`)],
    );

  it('share one limit of websockets for each user', async () => {
    await serve();
    await addUser('watcher');
    const sockets: (WebSocket | number)[] = [];
    for (let index = 0; index < 5; index += 1) sockets.push(await openSocket('watcher'));
    expect(sockets.slice(2)).toEqual([429, 429, 429]);
    for (const socket of sockets) if (typeof socket !== 'number') socket.terminate();
    await eventually(async () => expect(await openSocket('watcher')).toBeInstanceOf(WebSocket));
  });

  it('are replaced when one is killed, and its slots are released', async () => {
    await serve();
    const [first = 0] = await members();
    const before = served(api);
    process.kill(first, 'SIGSTOP');
    // The stopped process gets one of these connections and never accepts it.
    let closed = 0;
    for (let index = 0; index < SIZE; index += 1) {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1').resume();
      socket.on('error', () => undefined).once('close', () => (closed += 1));
      socket.write('GET /api/v2/ping/ HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n');
    }
    try {
      await eventually(() => expect(closed).toBeGreaterThanOrEqual(SIZE - 1));
    } finally {
      process.kill(first, 'SIGKILL');
    }
    await eventually(() => expect(closed).toBe(SIZE));
    await eventually(() => expect(served(api)).toBe(before + 1), START_MS);
    await untilAllServe();
    expect(await members()).not.toContain(first);
    for (let turn = 0; turn < CONNECTIONS * 2; turn += 1) {
      expect((await get('/api/v2/ping/')).status).toBe(200);
    }
  });

  it('stop if none of them can start', async () => {
    await serve();
    const { port } = new URL(api.url);
    const second = await cluster.api({ PORT: port, WEB_CONCURRENCY: '2' });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain('EADDRINUSE');
  });

  // launch.spec.ts ends a parent by SIGTERM.
  it('end with their parent when it is killed', async () => {
    await serve();
    const ids = await members();
    api.child.kill('SIGKILL');
    await eventually(async () => expect(await alive(ids)).toEqual([]));
  });
});

/**
 * Returns the number of processes that have started to serve. The process that forks them logs its start too.
 */
const served = ({ output }: Api): number => output().split('"message":"started"').length - 2;

/** Returns the processor time of each process, in ticks of the kernel. */
async function ticksOf(ids: readonly number[]): Promise<number[]> {
  return Promise.all(
    ids.map(async (id) => {
      const fields = (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]);
    }),
  );
}

it('runs inherit no file descriptors of the product', async () => {
  const worker = join(PACKAGE_FOLDER, 'dist', 'worker.js');
  // Node itself handles the lowest descriptors, so the inherited one has a higher number.
  const inherited = openSync(worker, 'r');
  const child = spawn(process.execPath, [worker], {
    // The process looks for a database that does not exist, which takes longer than this test. The duration
    // of a start on a busy machine is not guaranteed.
    env: {
      DATABASE_URL: 'postgresql://127.0.0.1:1/x',
      REDIS_URL: 'redis://127.0.0.1:1',
      SECRET_KEY: 'x',
    },
    stdio: [...Array.from({ length: 40 }, () => 'ignore' as const), inherited],
  });
  closeSync(inherited);
  const folder = `/proc/${child.pid}/fd`;
  const isOpen = async (): Promise<boolean> => {
    const names = await readdir(folder);
    const links = names.map((name) => readlink(`${folder}/${name}`).catch(() => ''));
    return (await Promise.all(links)).includes(worker);
  };
  try {
    await eventually(async () => expect(await isOpen()).toBe(true));
    await eventually(async () => expect(await isOpen()).toBe(false), 20_000);
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill('SIGKILL');
  }
});
