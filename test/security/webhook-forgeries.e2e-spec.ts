/** Every forged delivery gets the same 403 response for the same number of statements. */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { generateWebhookKey } from '../../src/common/crypto/random-key.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { webhookService, type WebhookServiceName } from '../../src/code-hosts/services.js';
import { sign } from '../../src/code-hosts/signature.js';
import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, firstSample, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { countQueries } from '../support/queries.js';
import { newHook, type Hook } from '../support/webhooks.js';

type Headers = [name: string, value: string][];

/** Request that replaces a valid delivery. */
interface Forgery {
  headers: Headers;
  body?: Buffer;
  path?: string;
}

let test: TestApp;
beforeAll(async () => {
  test = await boot({ own: true });
});
afterAll(() => test.close());

const bodyOf = (service: WebhookServiceName): Buffer =>
  Buffer.from(JSON.stringify(firstSample(service).payload));

/** Returns the name of the signature header and a valid value. */
function proofOf({ service, key }: Hook): [name: string, value: string] {
  const { signature } = webhookService(service);
  if (signature.kind === 'token') return [signature.header, key];
  const [{ name, algorithms }] = signature.headers as [(typeof signature.headers)[number]];
  return [name, sign(algorithms[0]!, bodyOf(service), key)];
}

function unproved({ service }: Hook): Headers {
  const headers = deliveryHeaders(service, firstSample(service).event, Buffer.alloc(0), 'key');
  return Object.entries(headers).filter(([name]) => !/signature|token/i.test(name));
}

/** Returns all forgeries by name. */
function forgeries(hook: Hook): Record<string, Forgery> {
  const { service, template } = hook;
  const body = bodyOf(service);
  const base = unproved(hook);
  const [name, right] = proofOf(hook);
  const wrong = (value: string): Forgery => ({ headers: [...base, [name, value]] });
  const proved: Headers = [...base, [name, right]];
  const altered = Buffer.from(body);
  altered[20] = altered[20]! ^ 1;
  const signsBody = webhookService(service).signature.kind === 'hmac';
  return {
    'no proof': { headers: base },
    'an empty proof': wrong(''),
    'another key': wrong(sign('sha1', body, generateWebhookKey())),
    'a truncated proof': wrong(right.slice(0, -1)),
    'a longer proof': wrong(`${right}0`),
    'a proof in the other case': wrong(right.toUpperCase()),
    'no algorithm': wrong(right.replace(/^.*=/, '').slice(0, 40)),
    'an unknown algorithm': wrong(`md5=${'0'.repeat(32)}`),
    'an algorithm of the wrong length': wrong(`sha256=${'0'.repeat(40)}`),
    'letters that are not digits': wrong(`sha1=${'g'.repeat(40)}`),
    'several equals signs': wrong('sha1=a=b=c'),
    'bytes beyond ASCII': wrong('sha1=\u00e9\u00ff'),
    'the proof twice': { headers: [...proved, [name, right]] },
    'a wrong proof beside the right one': { headers: [...proved, [name, 'sha1=00']] },
    'a proof of ten kilobytes': wrong(`sha1=${'a'.repeat(10_000)}`),
    'a template that does not exist': {
      headers: proved,
      path: `/api/v2/job_templates/${template.id + 100_000}/${service}/`,
    },
    'an invalid id': { headers: proved, path: `/api/v2/job_templates/x/${service}/` },
    ...(signsBody
      ? {
          'an altered byte': { headers: proved, body: altered },
          'a byte more': { headers: proved, body: Buffer.concat([body, Buffer.from(' ')]) },
          'a byte less': { headers: proved, body: body.subarray(0, -1) },
          'a byte order mark': {
            headers: proved,
            body: Buffer.concat([Buffer.from('\ufeff'), body]),
          },
          'the body compressed': {
            headers: [...proved, ['Content-Encoding', 'gzip'] as [string, string]],
            body: gzipSync(body),
          },
        }
      : {}),
  };
}

/** Sends the delivery unchanged, repeated headers included. */
async function send(
  hook: Hook,
  { headers, body = bodyOf(hook.service), path = hook.path() }: Forgery,
): Promise<{ status: number; body: unknown }> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(test.url).host}`,
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const answer = (await exchange(Buffer.concat([head, body]))).toString();
  const [top = '', text = ''] = answer.split('\r\n\r\n');
  return { status: Number(top.split(' ')[1]), body: JSON.parse(text) as unknown };
}

/** Returns all bytes that the server sends in response to these bytes. */
function exchange(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that has refused a request may close the connection before it has read all of it.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.write(bytes);
  });
}

describe.each(SERVICE_ROWS)('a forged delivery of %s', (service) => {
  it('gets 403 for any error, with the same text and the same number of statements', async () => {
    const hook = await newHook(test, service);
    const rejections = test.app.get(RejectionLog, { strict: false });
    const answers: Record<string, unknown> = {};
    const statements = new Set<number>();
    const cases = forgeries(hook);
    for (const [what, forgery] of Object.entries(cases)) {
      // Earlier rejections are written by a statement of their own, a second later.
      await rejections.flush();
      const count = await countQueries(test.database, async () => {
        answers[what] = await send(hook, forgery);
      });
      statements.add(count);
    }
    const refusal = {
      status: 403,
      body: { detail: 'You do not have permission to perform this action.' },
    };
    expect(answers).toEqual(Object.fromEntries(Object.keys(cases).map((what) => [what, refusal])));
    expect([...statements]).toEqual([1]);
    expect(await hook.jobs()).toEqual([]);
  });

  it('does not affect the webhook of its owner', async () => {
    const hook = await newHook(test, service);
    const [name, right] = proofOf(hook);
    const answer = await send(hook, { headers: [...unproved(hook), [name, right]] });
    expect(answer.status).toBe(202);
  });
});

describe('a header of a megabyte', () => {
  it('gets 431 from the HTTP parser in the standard error format, and affects nothing else', async () => {
    const hook = await newHook(test, 'service_a');
    const huge = await send(hook, {
      headers: [...unproved(hook), ['X-Service-A-Signature', `sha1=${'a'.repeat(1_000_000)}`]],
    });
    expect(huge).toEqual({
      status: 431,
      body: { detail: 'The headers of the request exceed 16 KB.' },
    });
    await hook.send(firstSample('service_a')).expect(202);
  });

  it('is distinguished from data that are not HTTP', async () => {
    const answer = (await exchange(Buffer.from('nonsense\r\n\r\n'))).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"detail":"The request is not valid HTTP."}');
  });
});

describe('the guard without the API', () => {
  beforeAll(() => {
    const { router } = test.app.getHttpAdapter().getInstance() as {
      router: { stack: { name: string }[] };
    };
    const gate = router.stack.findIndex(({ name }) => name === 'receiverGate');
    expect(gate).toBeGreaterThanOrEqual(0);
    router.stack.splice(gate, 1);
  });

  it.each(SERVICE_ROWS)('accepts a signed delivery of %s', async (service) => {
    const hook = await newHook(test, service);
    const [name, right] = proofOf(hook);
    const answer = await send(hook, { headers: [...unproved(hook), [name, right]] });
    expect(answer.status).toBe(202);
    expect(await hook.jobs()).toHaveLength(1);
  });

  it.each(SERVICE_ROWS)('refuses every forged delivery of %s', async (service) => {
    const hook = await newHook(test, service);
    for (const [what, forgery] of Object.entries(forgeries(hook))) {
      const { status, body } = await send(hook, forgery);
      expect([what, status, body]).toEqual([
        what,
        403,
        { detail: 'You do not have permission to perform this action.' },
      ]);
    }
    expect(await hook.jobs()).toEqual([]);
  });
});
