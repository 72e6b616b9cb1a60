/**
 * Requests that offer another protocol, as HTTP clients of Java and curl do: since there is a websocket,
 * Node hands each of them over as an upgrade.
 */
import { request, type RequestOptions } from 'node:http';

import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => (test = await boot()));
afterAll(() => test.close());

describe('a request that offers another upgrade', () => {
  it.each([
    ['Upgrade, HTTP2-Settings', 'h2c', '/api/v2/ping/'],
    ['Upgrade', 'TLS/1.2', '/api/v2/ping/'],
    ['Upgrade', 'websocket', '/api/v2/ping/'],
  ])('is served without it: %s: %s', async (Connection, Upgrade, path) => {
    const headers = { Connection, Upgrade };
    expect(await answerOf({ path, headers })).toMatchObject({ status: 200 });
  });

  it('with its whole body', async () => {
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

function answerOf(options: RequestOptions, body = ''): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(test.url, { ...options, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
