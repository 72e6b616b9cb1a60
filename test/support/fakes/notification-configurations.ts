import type { NotificationType } from '../../../src/notifications/backends/notification-type.js';

/** Returns a secret that may appear only at its destination. */
export const canary = (key: string): string => `canary-${key.replaceAll('_', '-')}-9f3b`;

type Values = Record<string, unknown>;

/** Returns minimal valid configurations of every kind for local fakes. Secrets are canaries. */
export function configurationsFor(ports: {
  http: number;
  smtp?: number;
  irc?: number;
}): Record<NotificationType, Values> {
  const url = `http://127.0.0.1:${ports.http}`;
  return {
    email: {
      host: '127.0.0.1',
      port: ports.smtp ?? 25,
      username: '',
      password: canary('password'),
      use_tls: false,
      use_ssl: false,
      sender: 'controller@example.org',
      recipients: ['ops@example.org', 'dev@example.org'],
    },
    chat_a: { token: canary('token'), channels: ['#ops', 'dev'] },
    sms_a: {
      account_sid: 'AC1',
      account_token: canary('account_token'),
      from_number: '+100',
      to_numbers: ['+200'],
    },
    incident_a: {
      subdomain: 'acme',
      token: canary('token'),
      service_key: canary('service_key'),
      client_name: 'controller',
    },
    webhook: {
      url: `${url}/hooks/${canary('url')}`,
      http_method: 'POST',
      disable_ssl_verification: false,
      username: 'user',
      password: canary('password'),
      headers: { 'X-Api-Key': canary('headers'), 'X-Plain': 'plain' },
      signing_secret: canary('signing_secret'),
    },
    chat_b: { url: `${url}/hooks/${canary('url')}`, channel: 'town-square' },
    chat_c: { url: `${url}/hooks/${canary('url')}` },
    irc: {
      server: '127.0.0.1',
      port: ports.irc ?? 6667,
      nickname: 'controller',
      password: canary('password'),
      use_ssl: false,
      targets: ['#ops', 'someone'],
    },
    dashboard_a: { url: `${url}/boards/${canary('url')}`, key: canary('key') },
  };
}
