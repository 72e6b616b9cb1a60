import { destinationOf } from './destination.js';

describe('destinationOf', () => {
  it.each([
    ['email', { host: 'mail.example', port: 25 }, '3 email mail.example:25'],
    ['irc', { server: 'irc.example', port: 6697 }, '3 irc irc.example:6697'],
    ['chat_a', { token: 't', channels: ['a'] }, '3 chat_a service'],
    ['sms_a', { account_sid: 's' }, '3 sms_a service'],
  ] as const)('%s', (type, configuration, destination) => {
    expect(destinationOf(3, type, configuration)).toBe(destination);
  });

  it('is different for hooks of one host, and does not reveal their secrets', () => {
    const of = (path: string): string =>
      destinationOf(3, 'chat_b', { url: `https://chat.example/hooks/${path}` });
    expect(of('secret-a')).toMatch(/^3 chat_b https:\/\/chat\.example#[0-9a-f]{12}$/);
    expect(of('secret-a')).not.toBe(of('secret-b'));
  });

  it('is different for each organization', () => {
    const configuration = { url: 'https://chat.example/hook' };
    expect(destinationOf(3, 'chat_c', configuration)).not.toBe(
      destinationOf(4, 'chat_c', configuration),
    );
  });
});
