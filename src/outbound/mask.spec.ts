import { maskText, maskUrl, secretsInUrl } from './mask.js';

describe('maskUrl', () => {
  it.each([
    ['https://hooks.test/services/T0/B0/secret', 'https://hooks.test/services/***'],
    ['https://hooks.test/hooks/abc?token=1', 'https://hooks.test/hooks/***?***'],
    ['https://user:pw@hooks.test:8443/in', 'https://***@hooks.test:8443/in'],
    ['https://hooks.test/0123456789abcdef0123456789', 'https://hooks.test/***'],
    ['https://hooks.test', 'https://hooks.test/'],
    ['http://hooks.test/a/', 'http://hooks.test/a'],
    ['not a url with secret', '***'],
    ['mailto:secret', '***'],
    ['', '***'],
  ])('%s becomes %s', (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });
});

describe('maskText', () => {
  it('masks URLs and known secrets inside a text', () => {
    expect(maskText('POST https://a.test/x/y failed for tok-1', ['tok-1', ''])).toBe(
      'POST https://a.test/x/*** failed for ***',
    );
  });

  it('masks all of a secret that contains another secret', () => {
    expect(maskText('sent key-and-more', ['key', 'key-and-more'])).toBe('sent ***');
  });
});

describe('secretsInUrl', () => {
  it.each([
    ['https://hooks.test/services/T0/B0/secret-path', ['secret-path']],
    ['https://hooks.test/in?token=secret-token', ['token=secret-token', 'secret-token']],
    ['https://user:pass%20word@hooks.test/in', ['pass%20word', 'pass word']],
    ['https://hooks.test/0123456789abcdef0123', ['0123456789abcdef0123']],
    ['https://hooks.test/hooks/a/b', []],
    ['no url', ['no url']],
  ])('%s', (url, secrets) => {
    expect(secretsInUrl(url)).toEqual(secrets);
  });
});
