import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { ServerShutdown } from './server-shutdown.js';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

let server: Server;
let shutdown: ServerShutdown;
let answer: () => void;
beforeEach(async () => {
  const waiting: (() => void)[] = [];
  answer = () => waiting.splice(0).forEach((send) => send());
  server = createServer((incoming: IncomingMessage, response) => {
    if (incoming.url === '/slow') waiting.push(() => response.end('slow'));
    else response.end('quick');
  });
  shutdown = new ServerShutdown(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

const port = (): number => (server.address() as AddressInfo).port;

async function open(): Promise<Socket & { text: () => string }> {
  const socket = connect(port(), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'connect');
  return Object.assign(socket, { text: () => text });
}

const end = async (drainMs = 0): Promise<void> => {
  await shutdown.stopListening(drainMs);
  await shutdown.end();
};

it('the server completes requests that were sent before its shutdown', async () => {
  const sockets = await Promise.all(Array.from({ length: 20 }, open));
  const ended = end();
  for (const socket of sockets) socket.write(GET);
  // Blocks the event loop, so that the server neither accepts connections nor reads requests.
  for (const busyUntil = Date.now() + 400; Date.now() < busyUntil;);
  await ended;
  for (const socket of sockets) {
    expect(socket.text()).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n/);
  }
});

it('the server sends Connection: close with a pending response', async () => {
  const slow = request({ port: port(), path: '/slow', agent: false }).end();
  const responded = once(slow, 'response');
  const arrived = once(server, 'request');
  await arrived;
  const ended = end();
  expect(shutdown.isEnding).toBe(true);
  setTimeout(() => answer(), 600);
  const [{ headers, statusCode }] = (await responded) as [IncomingMessage];
  expect([statusCode, headers.connection]).toEqual([200, 'close']);
  await ended;
});

it('the server closes idle connections at its shutdown', async () => {
  const socket = await open();
  socket.write(GET);
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await end();
  await closed;
});

it('the server accepts requests during the grace period, and none after it', async () => {
  const ended = end(500);
  const socket = await open();
  socket.write(GET);
  await once(socket, 'close');
  expect(socket.text()).toContain('quick');
  await ended;
  expect(server.listening).toBe(false);
});
