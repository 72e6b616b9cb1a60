/**
 * A receiver reads the whole body and verifies the signature before anything else, for every form of request.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, firstSample, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { newHook, type Hook } from '../support/webhooks.js';

const LIMIT = 64_000;
const REFUSAL = '{"detail":"You do not have permission to perform this action."}';

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { WEBHOOK_BODY_LIMIT: String(LIMIT) } });
});
afterAll(() => test.close());

interface Answer {
  status: number;
  head: string;
  text: string;
}

/** Sends the bytes unchanged. `reset` breaks the connection instead of waiting for a response. */
function exchange(bytes: string | Buffer, { reset = false } = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
      resolve({ status: Number(head.split(' ')[1]), head, text });
    });
    socket.write(bytes, () => {
      if (reset) setTimeout(() => socket.resetAndDestroy(), 50);
    });
  });
}

function head(path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n');
}

function post(path: string, headers: Record<string, string>, body: string): Promise<Answer> {
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  return exchange(head(path, { ...headers, ...length }) + body);
}

const signed = (hook: Hook, body: string, delivery: string = randomUUID()) =>
  deliveryHeaders(hook.service, firstSample(hook.service).event, Buffer.from(body), hook.key, {
    delivery,
  });

/** Spellings of the receiver's path that the router accepts. */
const SPELLINGS: [what: string, spell: (path: string) => string][] = [
  ['without the slash at the end', (path) => path.slice(0, -1)],
  ['with a query', (path) => `${path}?a=%zz&b`],
  ['in capitals', (path) => path.toUpperCase()],
  ['with its host', (path) => `http://anywhere${path}`],
  ['with a fragment', (path) => `${path}#part`],
  ['with a fragment and a query', (path) => `${path}?a#part`],
];

describe.each(SERVICE_ROWS)('a path of the receiver of %s', (service) => {
  it.each(SPELLINGS)(
    'in the form %s verifies the bytes before it parses them',
    async (_what, spell) => {
      const hook = await newHook(test, service);
      const path = spell(hook.path());
      const body = JSON.stringify(firstSample(service).payload);
      const good = await post(path, signed(hook, body), body);
      expect(good.status).toBe(202);
      expect(await hook.deliveries()).toMatchObject([{ verdict: 'accepted', payload: body }]);
      // The signature is verified before the body is parsed: this body is not JSON.
      const proofs = signed({ ...hook, key: 'another' } as Hook, '{"a":');
      const bad = await post(path, proofs, '{"a":');
      expect([bad.status, bad.text]).toEqual([403, REFUSAL]);
      for (const name of ['X-API-Request-Id', 'X-API-Time', 'X-RateLimit-Limit']) {
        expect(bad.head.toLowerCase()).toContain(`\r\n${name.toLowerCase()}: `);
      }
    },
  );

  it('is not found by ids in other notations', async () => {
    const hook = await newHook(test, service);
    const body = JSON.stringify(firstSample(service).payload);
    for (const id of [`%3${String(hook.template.id)}`, '%zz', '%2F', '-1', '1e1', '0x1']) {
      const path = `/api/v2/job_templates/${id}/${service}/`;
      const answer = await post(path, signed(hook, body), body);
      expect([id, answer.status, answer.text]).toEqual([id, 403, REFUSAL]);
    }
  });
});

describe.each(SERVICE_ROWS)('a body for %s', (service) => {
  it('may be sent in chunks', async () => {
    const hook = await newHook(test, service);
    const body = JSON.stringify(firstSample(service).payload);
    const chunks = [body.slice(0, 7), body.slice(7)].map(
      (part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`,
    );
    const top = head(hook.path(), { ...signed(hook, body), 'Transfer-Encoding': 'chunked' });
    const answer = await exchange(`${top}${chunks.join('')}0\r\n\r\n`);
    expect(answer.status).toBe(202);
    expect(await hook.deliveries()).toMatchObject([{ verdict: 'accepted', payload: body }]);
  });

  it('is the event with any content type', async () => {
    const hook = await newHook(test, service);
    const body = JSON.stringify(firstSample(service).payload);
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/json; charset=x',
    ]) {
      const headers = { ...signed(hook, body), 'Content-Type': type };
      expect([type, (await post(hook.path(), headers, body)).status]).toEqual([type, 202]);
    }
  });

  it('that is incomplete launches nothing and affects nothing else', async () => {
    const hook = await newHook(test, service);
    const body = JSON.stringify(firstSample(service).payload);
    const headers = { ...signed(hook, body), 'Content-Length': String(body.length) };
    await exchange(head(hook.path(), headers) + body.slice(0, 10), { reset: true });
    expect(await hook.deliveries()).toEqual([]);
    expect((await post(hook.path(), signed(hook, body), body)).status).toBe(202);
  });

  it('in chunks above the limit gets 413 before the verification', async () => {
    const hook = await newHook(test, service);
    const body = 'x'.repeat(LIMIT + 1);
    const top = head(hook.path(), { ...signed(hook, body), 'Transfer-Encoding': 'chunked' });
    const answer = await exchange(`${top}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(answer.status).toBe(413);
    expect(await hook.deliveries()).toEqual([]);
  });
});

it('a rotated key is refused from then on', async () => {
  const template = await test.make.jobTemplate();
  const path = `job_templates/${template.id}/`;
  await test.as.superuser.patch(path, { webhook_service: 'service_a' }).expect(200);
  const read = async (): Promise<string> =>
    (await test.as.superuser.get(`${path}webhook_key/`).expect(200)).body.webhook_key as string;
  const old = await read();
  await test.as.superuser.post(`${path}webhook_key/`).expect(201);
  const fresh = await read();
  const body = JSON.stringify(firstSample('service_a').payload);
  const receiver = `/api/v2/${path}service_a/`;
  const send = (key: string) => {
    const headers = deliveryHeaders('service_a', 'push', Buffer.from(body), key, {
      delivery: randomUUID(),
    });
    return post(receiver, headers, body);
  };
  expect((await send(old)).status).toBe(403);
  expect((await send(fresh)).status).toBe(202);
});

it('simultaneous deliveries for many templates launch their own templates', async () => {
  const hooks = await Promise.all(
    Array.from({ length: 30 }, (_, index) => newHook(test, SERVICE_ROWS[index % 3]![0])),
  );
  const answers = await Promise.all(
    hooks.flatMap((hook, index) => {
      const body = JSON.stringify(firstSample(hook.service).payload);
      const wrong = hooks[(index + 3) % hooks.length]!;
      return [
        post(hook.path(), signed(hook, body), body),
        post(hook.path(), signed(wrong, body), body),
      ];
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(hooks.flatMap(() => [202, 403]));
  for (const hook of hooks) expect(await hook.jobs()).toHaveLength(1);
});

it('deliveries get 503 without a database, and are accepted again afterwards', async () => {
  const hook = await newHook(test, 'service_a');
  const body = JSON.stringify(firstSample('service_a').payload);
  const away = Object.assign(new Error('canary'), { code: 'ECONNREFUSED' });
  const lookUp = jest.spyOn(test.database, 'preparedRows').mockRejectedValue(away);
  const wrong = { ...hook, service: 'service_a', key: 'another' } as Hook;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      post(hook.path(), signed(index % 2 ? hook : wrong, body), body),
    ),
  );
  lookUp.mockRestore();
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toEqual({ detail: expect.any(String) });
    expect(answer.text).not.toContain('canary');
    expect(answer.head).toContain('\r\nRetry-After: ');
  }
  expect((await post(hook.path(), signed(hook, body), body)).status).toBe(202);
});
