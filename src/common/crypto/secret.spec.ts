import { format, inspect } from 'node:util';
import { Secret } from './secret.js';

describe('Secret', () => {
  const secret = new Secret('canary');

  it('gives its text only on request', () => {
    expect(secret.reveal()).toBe('canary');
    expect(secret.isEmpty).toBe(false);
    expect(new Secret('').isEmpty).toBe(true);
  });

  it.each([
    ['template text', () => `${secret.toString()} ${String(secret)}`],
    ['JSON', () => JSON.stringify({ nested: [secret] })],
    ['inspect', () => inspect({ secret }, { depth: 5, showHidden: true })],
    ['console formats', () => format('%s %o %O %j', secret, secret, secret, secret)],
    ['own properties', () => Object.values(secret).join() + Object.keys(secret).join()],
  ])('prints stars as %s', (_name, print) => {
    expect(print()).not.toContain('canary');
  });
});
