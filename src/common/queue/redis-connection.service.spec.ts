import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Settings } from '../../config/settings.js';
import { RedisConnection } from './redis-connection.service.js';

const INFO = 'role:master\r\nloading:0';
const REFUSAL = "-READONLY You can't write against a read only replica.";

let server: Server;
let connection: RedisConnection;
/** Number of connections that the server has accepted; the first connection is one to a replica. */
let accepted: number;

beforeEach(async () => {
  accepted = 0;
  server = createServer((socket) => {
    accepted += 1;
    const isReplica = accepted === 1;
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        const commands = String(data).match(/^\*\d+\r\n\$\d+\r\n\w+/gm) ?? [];
        for (const command of commands) {
          if (/info$/i.test(command)) socket.write(`$${INFO.length}\r\n${INFO}\r\n`);
          else socket.write(isReplica && /set$/i.test(command) ? `${REFUSAL}\r\n` : '+OK\r\n');
        }
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = { REDIS_URL: `redis://127.0.0.1:${port}`, QUEUE_PREFIX: 'x' } as Settings;
  connection = new RedisConnection(settings);
  await once(connection.client, 'ready');
});
afterEach(() => {
  connection.onApplicationShutdown();
  server.close();
});

it('a connection to a server that became a replica is replaced', async () => {
  const { client } = connection;
  await expect(client.set('a', '1')).rejects.toThrow('READONLY');
  await once(client, 'ready');
  expect(await client.set('a', '1')).toBe('OK');
  expect(accepted).toBe(2);
});

it('a connection notices within a minute that the machine of Redis is gone', () => {
  const { port } = server.address() as AddressInfo;
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const [socket] = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[2] === remote);
  const [timer = '', ticks = ''] = socket?.[5]?.split(':') ?? [];
  expect(timer).toBe('02');
  // In hundredths of a second, until the first probe.
  expect(parseInt(ticks, 16)).toBeLessThanOrEqual(6000);
});
