import {
  buildStatusPost,
  mayPostTo,
  statusContext,
  serviceState,
  UnusableToken,
} from './status-body.js';
import { WEBHOOK_SERVICE_NAMES, webhookService, type WebhookServiceName } from './services.js';

const RUN = {
  id: 42,
  label: 'Job',
  status: 'successful',
  targetUrl: 'https://ctl.example.com/jobs/42/',
  context: 'controller/Deploy',
};
const post = (service: WebhookServiceName, change: Partial<typeof RUN> = {}, token = 'tok') =>
  buildStatusPost(service, { ...RUN, ...change }, token);

describe('the status words', () => {
  it.each([
    ['pending', ['pending', 'pending', 'INPROGRESS']],
    ['running', [null, 'running', 'INPROGRESS']],
    ['successful', ['success', 'success', 'SUCCESSFUL']],
    ['failed', ['failure', 'failed', 'FAILED']],
    ['error', ['error', 'failed', 'FAILED']],
    ['canceled', ['failure', 'canceled', 'FAILED']],
    ['waiting', [null, null, null]],
    ['new', [null, null, null]],
    ['constructor', [null, null, null]],
  ])('for %s are %p', (status, words) => {
    expect(WEBHOOK_SERVICE_NAMES.map((service) => serviceState(service, status))).toEqual(words);
    expect(
      WEBHOOK_SERVICE_NAMES.map((service) => post(service, { status })?.state ?? null),
    ).toEqual(words);
  });
});

describe('buildStatusPost', () => {
  it('of service A has the fields of the contract', () => {
    expect(post('service_a')).toEqual({
      state: 'success',
      headers: { 'Content-Type': 'application/json', Authorization: 'token tok' },
      body: {
        state: 'success',
        target_url: 'https://ctl.example.com/jobs/42/',
        description: 'Job 42 was successful.',
        context: 'controller/Deploy',
      },
    });
  });

  it('of service B has the fields of the contract', () => {
    expect(post('service_b', { status: 'failed' })).toEqual({
      state: 'failed',
      headers: { 'Content-Type': 'application/json', 'PRIVATE-TOKEN': 'tok' },
      body: {
        state: 'failed',
        target_url: 'https://ctl.example.com/jobs/42/',
        description: 'Job 42 failed.',
        name: 'controller/Deploy',
      },
    });
  });

  it('of service C has the fields of the contract', () => {
    expect(post('service_c_dc', { status: 'running' })).toEqual({
      state: 'INPROGRESS',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer tok' },
      body: {
        state: 'INPROGRESS',
        key: 'controller/Deploy',
        name: 'controller/Deploy',
        url: 'https://ctl.example.com/jobs/42/',
        description: 'Job 42 is running.',
      },
    });
  });

  it('limits the length of the context without splitting a character', () => {
    const context = post('service_b', { context: '😀'.repeat(300) })?.body['name'] ?? '';
    expect([...context]).toHaveLength(255);
    expect(context.endsWith('😀…')).toBe(true);
    expect(post('service_a', { context: 'a\r\nb\0c' })?.body['context']).toBe('a b c');
  });

  it('removes the line break of a pasted token and refuses other characters', () => {
    expect(post('service_a', {}, ' tok\n')?.headers['Authorization']).toBe('token tok');
    for (const token of ['', 'a\r\nX-Evil: 1', 'a b', 'schlüssel']) {
      expect(() => post('service_a', {}, token)).toThrow(UnusableToken);
    }
  });
});

describe('statusContext', () => {
  it('is different for each template, even with equal or long names', () => {
    const name = '😀'.repeat(300);
    expect(statusContext({ id: 7, name: 'Deploy' }, 'ci', 255)).toBe('ci/Deploy (7)');
    expect(statusContext({ id: 8, name: 'Deploy' }, 'ci', 255)).toBe('ci/Deploy (8)');
    const contextOf = (id: number) => [...statusContext({ id, name }, 'ci', 255)];
    const [one, two] = [contextOf(7), contextOf(8)];
    expect(one).toHaveLength(255);
    expect(one.join('')).not.toBe(two.join(''));
    expect(one.slice(-5).join('')).toBe('… (7)');
    expect(statusContext({ id: 7, name: 'a\r\nb' }, 'ci', 255)).toBe('ci/a b (7)');
    expect(statusContext(null, 'ci', 255)).toBe('ci');
  });
});

describe('mayPostTo', () => {
  const URL_A = 'https://git.example.com/api/v3/repos/o/r/statuses/abc';
  const may = (url: string, credentialHost = '', allowedHosts: string[] = []) =>
    mayPostTo(url, { credentialHost, allowedHosts });

  it.each([
    [URL_A, 'https://git.example.com', []],
    [URL_A, 'https://GIT.example.com:443/some/path', []],
    [URL_A, 'git.example.com', []],
    [URL_A, '', ['other.example.com', ' git.example.com ']],
    ['http://127.0.0.1:9000/x', '127.0.0.1:9000', []],
    ['http://127.0.0.1:9000/x', '', ['http://127.0.0.1:9000']],
    ['http://[::1]:9000/x', '[::1]:9000', []],
  ])('allows %s for the host %p and the list %p', (url, host, list) => {
    expect(may(url, host, list)).toBe(true);
  });

  it.each([
    [URL_A, '', []],
    [URL_A, '   ', ['']],
    [URL_A, 'https://other.example.com', ['git.example.com']],
    [URL_A, 'example.com', []],
    [URL_A, 'git.example.com.evil.test', []],
    [URL_A, 'https://git.example.com:8443', []],
    ['http://git.example.com/x', 'https://git.example.com', []],
    ['https://git.example.com:8443/x', 'git.example.com', []],
    ['https://user:pw@git.example.com/x', 'git.example.com', []],
    ['https://git.example.com@evil.test/x', 'git.example.com', []],
    ['https://evil.test/?https://git.example.com', 'git.example.com', []],
    ['https://evil.test#git.example.com', 'git.example.com', []],
    ['ftp://git.example.com/x', 'git.example.com', []],
    ['file:///etc/passwd', '', ['']],
    ['not a url', 'not a url', []],
    [URL_A, '*', ['*']],
  ])('refuses %s for the host %p and the list %p', (url, host, list) => {
    expect(may(url, host, list)).toBe(false);
  });

  it.each([
    ['service_a', 'api.github.com'],
    ['service_b', 'gitlab.com'],
  ] as const)('allows the public host of %s with TLS only', (service, host) => {
    const list = [...webhookService(service).status.publicHosts];
    expect(may(`https://${host}/x`, '', list)).toBe(true);
    expect(may(`http://${host}/x`, '', list)).toBe(false);
  });
});
