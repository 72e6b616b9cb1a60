import { webhookSample } from '../../test/support/payloads/webhooks.js';
import { parseEvent } from './event.js';
import { webhookService, type WebhookServiceName } from './services.js';

const parseAs = (service: WebhookServiceName, event: string, payload: unknown) =>
  parseEvent(service, {
    headers: { [webhookService(service).eventHeader.toLowerCase()]: event },
    rawBody: Buffer.from(JSON.stringify(payload)),
  });

describe('status URLs', () => {
  const statusOf = (service: WebhookServiceName, event: string, change: Record<string, unknown>) =>
    parseAs(service, event, { ...webhookSample(service, event).payload, ...change }).statusApi;

  const project = (change: Record<string, unknown>) => ({
    project: {
      id: 15,
      web_url: 'https://b.example.com/group/site',
      path_with_namespace: 'group/site',
      ...change,
    },
  });
  const links = (href: unknown) => ({ links: { self: [{ href }] } });

  it('of service A come from the payload, with the ref inserted for pushes', () => {
    const url = (text: string) => ({ repository: { statuses_url: text } });
    expect(statusOf('service_a', 'push', { ...url('https://x/{sha}'), after: 'a/$& b' })).toBe(
      'https://x/a%2F%24%26%20b',
    );
    expect(statusOf('service_a', 'push', { after: '0'.repeat(40) })).toBeNull();
    expect(statusOf('service_a', 'push', url('ftp://x/{sha}'))).toBeNull();
    expect(statusOf('service_a', 'push', url('not a url'))).toBeNull();
    expect(statusOf('service_a', 'push', url(`https://x/${'y'.repeat(3000)}`))).toBeNull();
  });

  it('of service B keep the path under which the service is installed', () => {
    const push = (change: Record<string, unknown>) =>
      statusOf('service_b', 'Push Hook', { ...project(change), checkout_sha: 'abc' });
    expect(push({})).toBe('https://b.example.com/api/v4/projects/15/statuses/abc');
    expect(push({ web_url: 'https://b.example.com:8443/code/group/site/' })).toBe(
      'https://b.example.com:8443/code/api/v4/projects/15/statuses/abc',
    );
    expect(push({ path_with_namespace: null })).toBe(
      'https://b.example.com/api/v4/projects/15/statuses/abc',
    );
    expect(push({ web_url: 'https://user:pw@b.example.com/group/site' })).toBe(
      'https://b.example.com/api/v4/projects/15/statuses/abc',
    );
    for (const change of [
      { web_url: null },
      { web_url: 'javascript:alert(1)' },
      { id: null },
      { id: '../..' },
      { id: 1.5 },
    ]) {
      expect(push(change)).toBeNull();
    }
  });

  it('of service C keep the context path, and use the actor if there is no repository', () => {
    const changed = (change: Record<string, unknown>) =>
      statusOf('service_c_dc', 'repo:refs_changed', { changes: [{ toHash: 'abc' }], ...change });
    const expected = 'https://c.example.com/rest/build-status/1.0/commits/abc';
    expect(changed({ actor: links('https://c.example.com/users/admin') })).toBe(expected);
    expect(
      changed({ actor: {}, repository: links('https://c.example.com/projects/P/repos/r/browse') }),
    ).toBe(expected);
    expect(
      changed({
        actor: links(null),
        repository: links('https://c.example.com/x/y/projects/users/repos/r'),
      }),
    ).toBe('https://c.example.com/x/y/rest/build-status/1.0/commits/abc');
    expect(changed({ actor: links('https://c.example.com') })).toBe(expected);
    expect(changed({ actor: {}, repository: {} })).toBeNull();
  });
});
