import { WEBHOOK_SAMPLES } from '../../test/support/payloads/webhooks.js';
import { eventMismatch } from './receiver-kinds.js';
import type { WebhookServiceName } from '../code-hosts/services.js';

const PUSH_EVENTS = [
  'service_a push',
  'service_b Push Hook',
  'service_b Tag Push Hook',
  'service_c_dc repo:refs_changed',
  'service_c_dc mirror:repo_synchronized',
];

describe('eventMismatch', () => {
  it('accepts all sample events', () => {
    for (const { service, event: type } of WEBHOOK_SAMPLES) {
      expect(eventMismatch({ launchedBy: 'events' }, { service, type })).toBeNull();
    }
  });

  it('accepts only pushes for projects', () => {
    const passing = WEBHOOK_SAMPLES.filter(
      ({ service, event: type }) =>
        eventMismatch({ launchedBy: 'pushes' }, { service, type }) === null,
    );
    expect(passing.map(({ service, event }) => `${service} ${event}`)).toEqual(PUSH_EVENTS);
  });

  it.each<[WebhookServiceName, string, string]>([
    ['service_a', 'ping', 'The event is a connection test.'],
    ['service_c_dc', 'diagnostics:ping', 'The event is a connection test.'],
    ['service_a', 'Push Hook', 'Events of this type launch nothing.'],
    ['service_a', '', 'Events of this type launch nothing.'],
    ['service_b', '__proto__', 'Events of this type launch nothing.'],
    ['service_c_dc', 'pr:merged', 'Events of this type launch nothing.'],
  ])('explains why %s %j launches nothing', (service, type, reason) => {
    expect(eventMismatch({ launchedBy: 'events' }, { service, type })).toBe(reason);
  });
});
