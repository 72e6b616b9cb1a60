/**
 * Requests that offer another protocol, as HTTP clients of Java and curl do: because the server has a
 * websocket, Node emits an upgrade for each of them.
 */
import { Agent, request, type RequestOptions } from 'node:http';

import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => (test = await boot({ settings: { CONNECTIONS_PER_ADDRESS: '8' } })));
afterAll(() => test.close());

describe('a request that offers another protocol', () => {
  it.each([
    ['Upgrade, HTTP2-Settings', 'h2c', '/api/v2/ping/'],
    ['Upgrade', 'TLS/1.2', '/api/v2/ping/'],
    ['Upgrade', 'websocket', '/api/v2/ping/'],
  ])('is served with HTTP/1.1: %s: %s', async (Connection, Upgrade, path) => {
    const headers = { Connection, Upgrade };
    expect(await answerOf({ path, headers })).toMatchObject({ status: 200 });
  });

  it('is counted once with other requests on its connection', async () => {
    const warn = jest.fn();
    process.on('warning', warn);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { Connection: 'Upgrade, keep-alive', Upgrade: 'TLS/1.2' };
    const ports = new Set<number | undefined>();
    for (let count = 0; count < 20; count += 1) {
      const { status, port } = await answerOf({ path: '/api/v2/ping/', headers, agent });
      expect(status).toBe(200);
      ports.add(port);
    }
    agent.destroy();
    process.off('warning', warn);
    expect(ports.size).toBe(1);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is read with its complete body', async () => {
    const headers = {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      Authorization: `Bearer ${await test.make.token(test.as.users.superuser)}`,
      'Content-Type': 'application/json',
    };
    const description = 'ä'.repeat(100_000);
    const body = JSON.stringify({ name: `Sent with an upgrade`, description });
    const answer = await answerOf(
      { path: '/api/v2/organizations/', headers, method: 'POST' },
      body,
    );
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({ description });
  });
});

interface Answer {
  status: number;
  text: string;
  /** Local port of the connection. */
  port: number | undefined;
}

function answerOf(options: RequestOptions, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(test.url, { agent: false, ...options }, (answer) => {
      const { statusCode: status = 0, socket } = answer;
      const port = socket.localPort;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status, text, port }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
