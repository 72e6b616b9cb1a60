import fc from 'fast-check';
import {
  blankConfiguration,
  encryptedKeys,
  maskConfiguration,
  maskForReaders,
  recipientsOf,
  secretKeys,
  validateConfiguration,
} from './configuration.js';
import { joinUrl } from './backend.js';
import { NOTIFICATION_TYPES } from './notification-type.js';
import { backendFor } from './registry.js';
import { ENCRYPTED } from '../../common/fields/text.js';

const EMAIL = {
  host: 'mail.example',
  port: 25,
  username: '',
  password: '',
  use_tls: false,
  use_ssl: false,
  sender: 'a@example.org',
  recipients: ['b@example.org'],
};
const WEBHOOK = { url: 'https://h.example/in', headers: {} };

const errorsOf = (...input: Parameters<typeof validateConfiguration>): readonly string[] =>
  validateConfiguration(...input).errors;

describe('validateConfiguration', () => {
  it('fills in declared defaults and keeps unknown keys', () => {
    expect(validateConfiguration('email', { ...EMAIL, own: 1 })).toEqual({
      configuration: { ...EMAIL, timeout: 30, own: 1 },
      errors: [],
    });
    expect(validateConfiguration('webhook', WEBHOOK).configuration).toEqual({
      ...WEBHOOK,
      http_method: 'POST',
      disable_ssl_verification: false,
      username: '',
      password: '',
    });
  });

  it.each(['', ' ', 'the ops team', 'a@example.org, ops team', '<>'])(
    'refuses %p as a sender or recipient',
    (text) => {
      const fault = `'${text}' is not a valid mail address.`;
      expect(errorsOf('email', { ...EMAIL, sender: text })).toEqual([fault]);
      expect(errorsOf('email', { ...EMAIL, recipients: ['b@example.org', text] })).toEqual([fault]);
    },
  );

  it.each([
    'root',
    'a@example.org',
    'Ops <a@example.org>',
    '"Ops, all" <a@b.example>, c@d.example',
  ])('accepts %p as a sender and recipient', (text) => {
    expect(errorsOf('email', { ...EMAIL, sender: text, recipients: [text] })).toEqual([]);
  });

  it.each(['whsec_', 'whsec_ ', 'whsec_!!!!', 'whsec_a'])(
    'refuses the signing secret %p, whose key would be empty',
    (signing_secret) => {
      expect(errorsOf('webhook', { ...WEBHOOK, signing_secret })).toEqual([
        "Configuration field 'signing_secret' is not valid: 'whsec_' must be followed by a key in Base64.",
      ]);
    },
  );

  it.each(['', 'any words', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_YQ=='])(
    'accepts the signing secret %p',
    (signing_secret) => {
      expect(errorsOf('webhook', { ...WEBHOOK, signing_secret })).toEqual([]);
    },
  );

  it('refuses header values with invalid characters', () => {
    expect(errorsOf('webhook', { ...WEBHOOK, headers: { 'X-Mood': 'caf\u00e9' } })).toEqual([]);
    expect(errorsOf('webhook', { ...WEBHOOK, headers: { 'X-Mood': '\u2603' } })).toEqual([
      "Configuration field 'headers' is not valid: the value of header X-Mood is not Latin-1 text.",
    ]);
  });

  it.each([
    ['chat_a', ['token', 'channels']],
    ['sms_a', ['account_sid', 'account_token', 'from_number', 'to_numbers']],
    ['incident_a', ['subdomain', 'token', 'service_key', 'client_name']],
    ['webhook', ['url', 'headers']],
    ['chat_b', ['url']],
    ['chat_c', ['url']],
    ['dashboard_a', ['url', 'key']],
    ['irc', ['server', 'port', 'nickname', 'password', 'use_ssl', 'targets']],
    ['email', ['host', 'port', 'use_tls', 'use_ssl', 'sender', 'recipients']],
  ] as const)('%s requires its keys', (type, keys) => {
    expect(errorsOf(type, {})).toEqual([
      `Missing required fields for Notification Configuration: [${keys.map((key) => `'${key}'`).join(', ')}].`,
    ]);
  });

  it.each([
    [{ port: true }, "Configuration field 'port' incorrect type, expected int."],
    [{ port: '25' }, "Configuration field 'port' incorrect type, expected int."],
    [{ port: 2.5 }, "Configuration field 'port' incorrect type, expected int."],
    [{ use_tls: 1 }, "Configuration field 'use_tls' incorrect type, expected bool."],
    [{ host: null }, "Configuration field 'host' incorrect type, expected string."],
    [{ password: 5 }, "Configuration field 'password' incorrect type, expected password."],
    [{ recipients: 'a@b' }, "Configuration field 'recipients' incorrect type, expected list."],
    [
      { recipients: [1] },
      "Configuration field 'recipients' incorrect type, expected list of strings.",
    ],
    [{ recipients: [] }, "No values specified for field 'recipients'"],
    [{ port: 0 }, "Configuration field 'port' must be between 1 and 65535."],
    [{ port: 65536 }, "Configuration field 'port' must be between 1 and 65535."],
    [{ timeout: 121 }, "Configuration field 'timeout' must be between 1 and 120."],
    [{ host: 'a\r\nb' }, "Configuration field 'host' must not contain line breaks."],
    [{ sender: 'a\nBcc: b' }, "Configuration field 'sender' must not contain line breaks."],
    [{ recipients: ['a\rb'] }, "Configuration field 'recipients' must not contain line breaks."],
  ])('%j: %s', (change, text) => {
    expect(errorsOf('email', { ...EMAIL, ...change })).toEqual([text]);
  });

  it.each([
    [{ http_method: 'GET' }, "HTTP method must be either 'POST' or 'PUT'."],
    [{ headers: [] }, "Configuration field 'headers' incorrect type, expected object."],
    [
      { headers: { a: 1 } },
      "Configuration field 'headers' incorrect type, expected object of strings.",
    ],
    [
      { headers: { 'a b': '1' } },
      `Configuration field 'headers' is not valid: "a b" is not a valid header name.`,
    ],
    [
      { headers: { a: '1\r\nb: 2' } },
      "Configuration field 'headers' must not contain line breaks.",
    ],
    [
      { headers: { 'Content-Length': '1' } },
      "Configuration field 'headers' is not valid: the header Content-Length cannot be set.",
    ],
    [{ url: 'ftp://x/' }, "Configuration field 'url' must be an http or https URL."],
    [{ url: 'x' }, "Configuration field 'url' must be an http or https URL."],
    [
      { url: `https://h/${'/'.repeat(2_039)}` },
      "Configuration field 'url': Ensure this field has no more than 2048 characters.",
    ],
  ])('webhook %j: %s', (change, text) => {
    expect(errorsOf('webhook', { ...WEBHOOK, ...change })).toEqual([text]);
  });

  it('accepts methods in any letter case, and empty or numeric ids', () => {
    expect(errorsOf('webhook', { ...WEBHOOK, http_method: 'put' })).toEqual([]);
    const dashboard = { url: 'https://d.example', key: 'k' };
    expect(errorsOf('dashboard_a', { ...dashboard, dashboardId: '', panelId: 3 })).toEqual([]);
    expect(errorsOf('dashboard_a', { ...dashboard, dashboardId: 'cIBgcSjkk' })).toEqual([]);
    expect(errorsOf('dashboard_a', { ...dashboard, dashboardId: true })).toHaveLength(1);
  });

  it.each([
    ['dashboardId', 'a uid?', 'a number or a UID'],
    ['dashboardId', 'x'.repeat(41), 'a number or a UID'],
    ['panelId', 'four', 'a number'],
    ['panelId', -1, 'a number'],
  ])('dashboard_a refuses the %s %s', (key, value, wanted) => {
    const dashboard = { url: 'https://d.example', key: 'k', [key]: value };
    const fault = `Configuration field '${key}' must be ${wanted}.`;
    expect(errorsOf('dashboard_a', dashboard)).toEqual([fault]);
  });

  it('reports several errors', () => {
    expect(errorsOf('email', { port: 'x', recipients: [] })).toEqual([
      expect.stringContaining('Missing required fields'),
      expect.stringContaining("'port'"),
      expect.stringContaining("'recipients'"),
    ]);
  });

  it.each(['#a b', 'a,b', ':a', '', '#a\u0007'])('refuses the IRC target %j', (target) => {
    const irc = { server: 'i', port: 1, nickname: 'n', password: '', use_ssl: false };
    expect(errorsOf('irc', { ...irc, targets: [target] })).toHaveLength(1);
  });

  it('returns a list of texts for any input', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NOTIFICATION_TYPES),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (type, input) => errorsOf(type, input).every((text) => typeof text === 'string'),
      ),
    );
  });
});

describe('secrets of a configuration', () => {
  it('keep the stored value if the request contains $encrypted$', () => {
    const sent = { ...EMAIL, password: ENCRYPTED };
    const previous = { ...EMAIL, password: 'stored' };
    expect(validateConfiguration('email', sent, previous)).toMatchObject({
      configuration: { password: 'stored' },
      errors: [],
    });
  });

  it('are refused as $encrypted$ if no value is stored', () => {
    expect(errorsOf('email', { ...EMAIL, password: ENCRYPTED })).toEqual([
      "Configuration field 'password' cannot be $encrypted$: there is no stored value to keep.",
    ]);
    expect(errorsOf('webhook', { ...WEBHOOK, headers: { A: ENCRYPTED } }, WEBHOOK)).toHaveLength(1);
  });

  it('keep the value of a masked header', () => {
    const previous = { ...WEBHOOK, headers: { Authorization: 'Bearer x', 'X-Plain': '1' } };
    const shown = maskConfiguration('webhook', previous);
    expect(shown.headers).toEqual({ Authorization: ENCRYPTED, 'X-Plain': '1' });
    expect(validateConfiguration('webhook', shown, previous).configuration.headers).toEqual(
      previous.headers,
    );
  });

  it('are shown as $encrypted$', () => {
    expect(maskConfiguration('email', { ...EMAIL, password: 'x' })).toMatchObject({
      password: ENCRYPTED,
    });
    expect(maskConfiguration('email', EMAIL)).toMatchObject({ password: '' });
    expect(maskConfiguration('chat_b', { url: 'https://c.example/hooks/x' })).toEqual({
      url: 'https://c.example/hooks/x',
    });
  });

  it('are masked in URLs', () => {
    const shown = { url: 'https://c.example/hooks/secret', channel: 'ops' };
    expect(maskForReaders('chat_b', shown)).toEqual({
      url: 'https://c.example/hooks/***',
      channel: 'ops',
    });
    expect(maskForReaders('chat_b', { url: ENCRYPTED })).toEqual({ url: ENCRYPTED });
    expect(maskForReaders('email', EMAIL)).toEqual(EMAIL);
    const headers = { 'X-Passphrase': 'x', 'X-Ops': 'y', 'X-Empty': '' };
    const webhook = maskConfiguration('webhook', { ...WEBHOOK, headers });
    expect(webhook.headers).toEqual({ ...headers, 'X-Passphrase': ENCRYPTED });
    expect(maskForReaders('webhook', webhook).headers).toEqual({
      ...{ 'X-Passphrase': ENCRYPTED, 'X-Ops': ENCRYPTED, 'X-Empty': '' },
    });
  });

  it('are listed, as are the values that are encrypted at rest', () => {
    expect(secretKeys('incident_a')).toEqual(['token', 'service_key']);
    expect(secretKeys('webhook')).toEqual(['password', 'signing_secret']);
    expect(encryptedKeys('webhook')).toEqual(['url', 'password', 'headers', 'signing_secret']);
    expect(encryptedKeys('chat_b')).toEqual(['url']);
  });
});

describe('blankConfiguration', () => {
  it.each(NOTIFICATION_TYPES)('%s: has every key, and lacks only required values', (type) => {
    const blank = blankConfiguration(type);
    expect(Object.keys(blank)).toEqual(Object.keys(backendFor(type).fields));
    for (const text of errorsOf(type, blank)) {
      expect(text).toMatch(/No values specified|must be an http|must be between|not a valid IRC/);
    }
  });
});

describe('recipientsOf', () => {
  it.each([
    ['email', EMAIL, '["b@example.org"]'],
    ['chat_b', { url: 'https://c.example/hooks/secret' }, 'https://c.example/hooks/***'],
    ['webhook', { url: 'https://u:p@h.example/a/b?t=1' }, 'https://***@h.example/a/***?***'],
    ['irc', { targets: ['#a'] }, '["#a"]'],
    ['incident_a', { subdomain: 'ops', service_key: 'secret' }, 'ops'],
  ] as const)('%s', (type, configuration, text) => {
    expect(recipientsOf(type, configuration)).toBe(text);
  });
});

describe('the table of notification types', () => {
  it.each(NOTIFICATION_TYPES)('%s has a backend that lists its recipients', (type) => {
    const backend = backendFor(type);
    expect(backend.type).toBe(type);
    expect(backend.fields).toHaveProperty(backend.recipientKey);
  });
});

describe('joinUrl', () => {
  it.each([
    ['https://h', 'https://h/a'],
    ['https://h/b//', 'https://h/b/a'],
  ])('%s', (base, url) => {
    expect(joinUrl(base, '/a')).toBe(url);
  });

  it('takes a time that grows with the length only', () => {
    const base = `https://h${'/'.repeat(400_000)}x`;
    const start = performance.now();
    expect(joinUrl(base, '/a')).toBe(`${base}/a`);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
