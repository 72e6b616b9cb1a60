import { OutboundClient } from '../../../src/outbound/outbound-client.js';
import type { OutgoingMessage, SendContext } from '../../../src/notifications/backends/backend.js';
import type { HttpSink } from './http-sink.js';

/** 2024-01-02T03:04:05Z, the current time in every test context. */
export const TEST_NOW = new Date(1_704_164_645_000);

/** Returns a client that may reach the fakes. The test closes the client. */
export function createTestClient(): OutboundClient {
  return new OutboundClient({ allow: ['127.0.0.0/8'], userAgent: 'automation-controller 1.0' });
}

/** Returns a context in which all services with fixed URLs use one sink. */
export function makeSendContext(
  http: OutboundClient,
  sink?: HttpSink,
  overrides: Partial<SendContext> = {},
): SendContext {
  const base = sink?.url ?? 'http://127.0.0.1:1';
  return {
    http,
    urls: { chatA: base, smsA: base, incidentA: base },
    event: 'test',
    runTemplateId: null,
    messageId: 'msg-0001',
    delivered: [],
    keepDelivered: async () => undefined,
    now: () => TEST_NOW,
    ...overrides,
  };
}

/** Returns a message as composed for a job. */
export function makeMessage(overrides: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    subject: "Job #42 'Grüße' successful: https://c.example/",
    body: { id: 42 },
    text: '{"id": 42}',
    ...overrides,
  };
}
