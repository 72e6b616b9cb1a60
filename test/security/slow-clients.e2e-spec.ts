/**
 * Slow clients hold connections and memory only for a limited time and to a limited amount.
 *
 * Budget: 25 s, because it waits until slow connections are closed.
 */
import { connect, type Socket } from 'node:net';

import { CSRF_COOKIE } from '../../src/common/http/cookies.js';
import { UnauthenticatedBytes } from '../../src/common/http/unauthenticated-bytes.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;
let sockets: Socket[] = [];
beforeAll(async () => {
  test = await boot({
    settings: { UNAUTHENTICATED_BYTES_MAX: '1048576', WEBHOOK_BODY_LIMIT: '2000000' },
  });
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(() => test.close());

interface Client {
  socket: Socket;
  received: string;
  closedAt: number | null;
}

/** Opens a connection that sends a text and nothing more. */
function send(url: string, text: string): Client {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const client: Client = { socket, received: '', closedAt: null };
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => (client.received += chunk.toString()));
  socket.on('close', () => (client.closedAt = performance.now()));
  socket.write(text);
  return client;
}

const head = (path: string, ...headers: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

const RECEIVER = '/api/v2/job_templates/1/service_a/';
const FORM = 'Content-Type: application/x-www-form-urlencoded';

it('connections with incomplete headers or bodies are closed in time', async () => {
  const token = await test.make.token(test.as.users.orgMember);
  const started = performance.now();
  const bodies = [
    head(RECEIVER, 'Content-Length: 1000'),
    head('/api/login/', FORM, `Cookie: ${CSRF_COOKIE}=x`, 'Content-Length: 1000'),
    head(
      '/api/v2/teams/',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 1000',
    ),
    head(
      '/api/v2/teams/',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ),
    head('/api/v2/teams/', 'Content-Length: 1000'),
  ];
  const clients = [
    ...Array.from({ length: 300 }, () => send(test.url, 'GET / HTTP/1.1\r\nHost: x\r\n')),
    ...Array.from({ length: 50 }, (_, index) => send(test.url, bodies[index % bodies.length]!)),
  ];
  // Chunked bodies are excluded, because `x` is not a valid chunk and would be refused.
  const dripping = clients.filter((_, index) => index < 300 || (index - 300) % bodies.length !== 3);
  const drip = setInterval(() => {
    for (const { socket } of dripping) if (socket.writable) socket.write('x');
  }, 1000);
  const large = `Content-Length: ${2 * 1024 * 20}`;
  const steady = send(test.url, head(RECEIVER, large));
  const flow = setInterval(() => steady.socket.write('x'.repeat(1024)), 500);
  try {
    await eventually(() => {
      const open = clients.filter(({ closedAt }) => closedAt === null).length;
      expect(open).toBe(0);
    }, 20_000);
  } finally {
    clearInterval(drip);
    clearInterval(flow);
  }
  const last = Math.max(...clients.map(({ closedAt }) => closedAt ?? Infinity)) - started;
  expect(last).toBeLessThan(15_000);
  const answers = clients.map(({ received }) => received.slice(9, 12));
  expect(new Set(answers.slice(0, 300))).toEqual(new Set(['408']));
  expect(answers.slice(300, 305)).toEqual(['408', '408', '408', '408', '401']);
  // A slow connection that keeps sending stays open.
  expect(steady.closedAt).toBeNull();
  await test.as.orgMember.get('teams/').expect(200);
}, 40_000);

it('unauthenticated requests share a limit of bytes', async () => {
  const half = 'x'.repeat(600_000);
  const add = jest.spyOn(test.app.get(UnauthenticatedBytes), 'add');
  const first = send(test.url, `${head(RECEIVER, 'Content-Length: 1000000')}${half}`);
  // The request whose bytes arrive last is refused, so these must arrive before the others are sent.
  await eventually(() => {
    expect(add.mock.calls.reduce((sum, [, bytes]) => sum + bytes, 0)).toBe(half.length);
  });
  add.mockRestore();
  const whole = (): Promise<number> =>
    fetch(`${test.url}${RECEIVER}`, { method: 'POST', body: half }).then(({ status }) => status);
  expect(await whole()).toBe(503);
  // Authenticated callers need not wait for them, and there is still memory for a small anonymous body.
  await test.as.orgAdmin
    .patch(`organizations/${test.home.organization.id}/`, { description: 'x'.repeat(600_000) })
    .expect(200);
  expect((await fetch(`${test.url}${RECEIVER}`, { method: 'POST', body: '{}' })).status).toBe(403);
  first.socket.destroy();
  await eventually(async () => expect(await whole()).toBe(403));
});

it('an unauthenticated caller cannot send a large body', async () => {
  const login = (size: number): Promise<Response> =>
    fetch(`${test.url}/api/login/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `username=${'x'.repeat(size)}`,
    });
  expect((await login(60_000)).status).toBe(403);
  const refused = await login(70_000);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toEqual({ detail: 'The request body is larger than 65536 bytes.' });
});

describe('connections of one address', () => {
  /** Opens 40 connections, and returns a function that counts those that are still open. */
  const open = async (app: TestApp): Promise<() => number> => {
    const clients = Array.from({ length: 40 }, () => send(app.url, ''));
    await new Promise((resolve) => setTimeout(resolve, 200));
    return () => clients.filter(({ closedAt }) => closedAt === null).length;
  };

  it('are limited', async () => {
    const crowded = await boot({ settings: { CONNECTIONS_PER_ADDRESS: '20' } });
    try {
      const left = await open(crowded);
      await eventually(() => expect(left()).toBeLessThanOrEqual(20));
      for (const socket of sockets) socket.destroy();
      await eventually(() => crowded.as.orgMember.get('teams/').expect(200));
    } finally {
      await crowded.close();
    }
  });

  it('are not counted for a trusted proxy', async () => {
    const proxied = await boot({
      settings: { CONNECTIONS_PER_ADDRESS: '20', TRUSTED_PROXIES: '127.0.0.0/8' },
    });
    try {
      expect((await open(proxied))()).toBe(40);
      for (const socket of sockets) socket.destroy();
    } finally {
      await proxied.close();
    }
  });
});
