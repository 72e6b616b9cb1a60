import { HttpSink } from '../../../test/support/fakes/http-sink.js';
import {
  createTestClient,
  makeMessage,
  makeSendContext,
} from '../../../test/support/fakes/send-context.js';
import type { OutboundClient } from '../../outbound/outbound-client.js';
import { backendFor } from './registry.js';

let sink: HttpSink;
let http: OutboundClient;
beforeEach(async () => {
  sink = await HttpSink.start();
  http = createTestClient();
});
afterEach(async () => {
  await http.onApplicationShutdown();
  await sink.close();
});

describe('the longest text of each service', () => {
  const url = () => sink.url;
  it.each([
    ['chat_a', 40_000, () => ({ token: 't', channels: ['a'] }), 'text'],
    ['chat_b', 16_383, () => ({ url: url() }), 'text'],
    ['chat_c', 5_000, () => ({ url: url() }), 'text'],
    [
      'incident_a',
      1_024,
      () => ({ subdomain: 's', token: 't', service_key: 'k', client_name: 'c' }),
      'description',
    ],
    [
      'sms_a',
      1_600,
      () => ({ account_sid: 'A', account_token: 't', from_number: '+1', to_numbers: ['+2'] }),
      'Body',
    ],
  ] as const)(
    '%s: accepts %i characters and truncates a longer text',
    async (type, limit, config, key) => {
      const sent = async (length: number): Promise<string> => {
        sink.reply({ body: { ok: true } });
        const message = makeMessage({ subject: 'x'.repeat(length) });
        await backendFor(type).send(config(), message, makeSendContext(http, sink));
        return type === 'sms_a'
          ? String(new URLSearchParams(sink.last.body).get(key))
          : String((JSON.parse(sink.last.body) as Record<string, unknown>)[key]);
      };
      expect(await sent(limit)).toBe('x'.repeat(limit));
      expect(await sent(limit + 1)).toBe(`${'x'.repeat(limit - 1)}…`);
    },
  );
});
