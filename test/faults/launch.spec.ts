/**
 * Budget: 35 s, because it kills API processes between commit and response, and ends three others while
 * requests are under way.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

import WebSocket from 'ws';

import { issueToken, tokenDigest } from '../../src/common/crypto/tokens.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { Cluster } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';
import { alive, childrenOf, type Environment } from './support/processes.js';

/** Number of times that each API is ended during requests. */
const ENDS = IS_DEEP ? 10 : 1;
const REQUESTS = 40;
const HOSTS = 20;
const START_MS = 30_000;
const SESSION = 'session-of-root';

/** An API process is killed while it launches a job. */
describe('an API process', () => {
  let cluster: Cluster;
  let headers: Record<string, string>;

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0 });
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id),
         session AS (
           INSERT INTO sessions (digest, user_id, generation) SELECT $2, id, 0 FROM admin)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest, tokenDigest(SESSION)],
    );
    headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    await cluster.worker();
  });

  afterAll(() => cluster.stop());

  const launch = (url: string) =>
    fetch(`${url}/api/v2/job_templates/2/launch/`, { method: 'POST', headers, body: '{}' });
  const jobIds = async () =>
    (await cluster.rows<{ id: number }>('SELECT id FROM unified_jobs ORDER BY id')).map(
      ({ id }) => id,
    );

  it('that dies before the commit creates no job, and the next launch works', async () => {
    const before = await jobIds();
    const api = await cluster.api({ FAIL_POINT: 'run-created' });
    await expect(launch(api.url)).rejects.toThrow();
    expect(await api.ended).toBe('SIGKILL');
    expect(await jobIds()).toEqual(before);
  });

  it('that dies after the commit and before the message leaves a job, which runs', async () => {
    const before = new Set(await jobIds());
    const api = await cluster.api({ FAIL_POINT: 'run-committed' });
    await expect(launch(api.url)).rejects.toThrow();
    expect(await api.ended).toBe('SIGKILL');
    const ids = (await jobIds()).filter((id) => !before.has(id));
    expect(ids).toHaveLength(1);
    const figures = figuresOf(ids, await cluster.over(ids), await cluster.ledger());
    printFigures('API killed after its commit', figures);
    expect(figures).toEqual({ accepted: 1, finished: 1, lost: 0, doubled: 0 });
  });

  /**
   * Sends a request on a connection of its own.
   *
   * @returns when the request is sent, with the text received until the connection is closed
   */
  async function send(url: string, request: string): Promise<{ response: Promise<string> }> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => undefined);
    const response = new Promise<string>((resolve) => {
      socket.once('close', () => resolve(text));
    });
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(request, resolve));
    return { response };
  }

  const post = (path: string, body: object): string => {
    const text = JSON.stringify(body);
    const sent = { ...headers, Host: 'localhost', 'Content-Length': String(text.length) };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
  };
  let names = 0;
  const hosts = (): string =>
    post('/api/v2/bulk/host_create/', {
      inventory: 1,
      hosts: Array.from({ length: HOSTS }, () => ({ name: `host-${(names += 1)}` })),
    });

  /** Returns status and `Connection` of a response, or an empty text without one. */
  const summaryOf = (response: string): string =>
    [/^HTTP\/1\.1 (\d+)/, /^connection: (\w+)/im]
      .map((pattern) => pattern.exec(response)?.[1] ?? '')
      .join(' ');

  /** Starts an API with the given number of processes and waits until all of them serve. */
  async function start(size: number, environment: Environment = {}) {
    const log = { WEB_CONCURRENCY: String(size), LOG_LEVEL: 'info' };
    const api = await cluster.api({ ...log, ...environment });
    const started = () => api.output().split('"message":"started"').length - 1;
    await eventually(() => expect(started()).toBe(size === 1 ? 1 : size + 1), START_MS);
    return api;
  }

  async function openSocket(url: string): Promise<WebSocket> {
    const socket = new WebSocket(`${url}/websocket/`, {
      headers: { cookie: `controller_session=${SESSION}` },
    });
    await once(socket, 'open');
    return socket;
  }

  // One process shuts down as each of two does (server-shutdown.spec.ts).
  it.each(IS_DEEP ? [1, 2] : [2])(
    'of %s that receives SIGTERM completes received requests, and ends with its processes',
    async (size) => {
      for (let end = 1; end <= ENDS; end += 1) {
        const api = await start(size);
        const members = await childrenOf(api.child.pid);
        expect(members).toHaveLength(size === 1 ? 0 : size);
        const closed = once(await openSocket(api.url), 'close') as Promise<[code: number]>;
        const before = names;
        const sent = await Promise.all(
          Array.from({ length: REQUESTS }, () => send(api.url, hosts())),
        );
        api.child.kill('SIGTERM');
        const responses = await Promise.all(sent.map(({ response }) => response));
        expect(responses.map(summaryOf)).toEqual(Array(REQUESTS).fill('201 close'));
        expect((await closed)[0]).toBe(1001);
        expect(await api.ended).toBe(0);
        expect(await alive(members)).toEqual([]);
        const [stored] = await cluster.rows(
          `SELECT count(*)::int AS count FROM hosts WHERE substring(name from 'host-(.*)')::int > $1`,
          [before],
        );
        expect(stored).toEqual({ count: REQUESTS * HOSTS });
      }
    },
  );

  it('continues during the grace period, and reports that it shuts down', async () => {
    const api = await start(1, { SHUTDOWN_DRAIN_SECONDS: '2' });
    const ready = async () => (await fetch(`${api.url}/health/ready`)).status;
    expect(await ready()).toBe(200);
    api.child.kill('SIGTERM');
    await eventually(async () => expect(await ready()).toBe(503));
    const { response } = await send(api.url, hosts());
    expect(summaryOf(await response)).toBe('201 close');
    await api.ended;
  });

  it('ends immediately on Ctrl-C', async () => {
    const api = await start(2, { SHUTDOWN_DRAIN_SECONDS: '20' });
    api.child.kill('SIGINT');
    const ended = await Promise.race([
      api.ended.then(() => 'ended'),
      new Promise((resolve) => setTimeout(resolve, 10_000)),
    ]);
    expect(ended).toBe('ended');
  });
});
