import fc from 'fast-check';
import { sampleKeys } from '../../../test/support/payloads/ssh-keys.js';
import { checkSshKey, isEncryptedKey } from './ssh-key.js';

const keys = sampleKeys();
const BODY = 'AAAA';
const block = (label: string, body = BODY) =>
  `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;

describe('checkSshKey', () => {
  it.each(Object.entries(keys.plain))('reads a plain key (%s)', (_format, key) => {
    expect(checkSshKey(key)).toEqual({ fault: null, isEncrypted: false });
    expect(isEncryptedKey(key)).toBe(false);
  });

  it.each(Object.entries(keys.encrypted))('sees the passphrase of a key (%s)', (_format, key) => {
    expect(checkSshKey(key)).toEqual({ fault: null, isEncrypted: true });
    expect(isEncryptedKey(key)).toBe(true);
  });

  it('accepts Windows line ends, spaces around, several keys and certificates beside a key', () => {
    const plain = keys.plain['pkcs8'] ?? '';
    const encrypted = keys.encrypted['pkcs8'] ?? '';
    expect(checkSshKey(`\n  ${plain.replaceAll('\n', '\r\n')}  \n`).fault).toBeNull();
    expect(checkSshKey(plain.trim()).fault).toBeNull();
    expect(checkSshKey(block('CERTIFICATE') + plain)).toEqual({ fault: null, isEncrypted: false });
    expect(checkSshKey(plain + encrypted)).toEqual({ fault: null, isEncrypted: true });
  });

  it.each([
    ['', 'Invalid certificate or key.'],
    ['hello', 'Invalid certificate or key.'],
    ['-----BEGIN RSA PRIVATE KEY-----\nAAAA', 'Invalid certificate or key.'],
    [`${block('RSA PRIVATE KEY')}trailing`, 'Invalid certificate or key.'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----',
      'Invalid certificate or key.',
    ],
    [block('WEIRD PRIVATE KEY'), 'Invalid private key: unsupported type "WEIRD"'],
    [block('PUBLIC KEY'), 'Unsupported PEM object type: "PUBLIC KEY"'],
    [block('RSA PRIVATE KEY', '!!!'), 'Invalid base64-encoded data'],
    [block('RSA PRIVATE KEY', ''), 'Invalid base64-encoded data'],
    [block('CERTIFICATE'), 'At least one private key is required.'],
  ])('refuses %j', (text, fault) => {
    expect(checkSshKey(text)).toEqual({ fault });
    expect(isEncryptedKey(text)).toBe(false);
  });

  it('answers for any text, at once, and never repeats it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(checkSshKey(`canary${text}`)).toEqual({ fault: 'Invalid certificate or key.' });
      }),
    );
    const startedAt = process.cpuUsage();
    checkSshKey('-----BEGIN '.repeat(10_000));
    checkSshKey(block('RSA PRIVATE KEY', 'A'.repeat(130_000)));
    expect(process.cpuUsage(startedAt).user).toBeLessThan(500_000);
  });
});
