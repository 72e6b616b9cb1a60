import fc from 'fast-check';
import { sampleKeys } from '../../../test/support/payloads/ssh-keys.js';
import { checkSshKey, isEncryptedKey, repairSshKey } from './ssh-key.js';

const keys = sampleKeys();
const BODY = 'AAAA';
const block = (label: string, body = BODY) =>
  `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;

describe('checkSshKey', () => {
  it.each(Object.entries(keys.plain))('reads a plain key (%s)', (_format, key) => {
    expect(checkSshKey(key)).toEqual({ fault: null, isEncrypted: false });
    expect(isEncryptedKey(key)).toBe(false);
  });

  it.each(Object.entries(keys.encrypted))(
    'detects the passphrase of a key (%s)',
    (_format, key) => {
      expect(checkSshKey(key)).toEqual({ fault: null, isEncrypted: true });
      expect(isEncryptedKey(key)).toBe(true);
    },
  );

  it('accepts Windows line ends, surrounding spaces, several keys, and certificates beside a key', () => {
    const plain = keys.plain['pkcs8'] ?? '';
    const encrypted = keys.encrypted['pkcs8'] ?? '';
    expect(checkSshKey(`\n  ${plain.replaceAll('\n', '\r\n')}  \n`).fault).toBeNull();
    expect(checkSshKey(plain.trim()).fault).toBeNull();
    expect(checkSshKey(block('CERTIFICATE') + plain)).toEqual({ fault: null, isEncrypted: false });
    expect(checkSshKey(plain + encrypted)).toEqual({ fault: null, isEncrypted: true });
  });

  const all = Object.entries({ ...keys.plain, encrypted: keys.encrypted['pkcs8'] ?? '' });

  it.each(all)('refuses a key with a missing line (%s)', (_format, key) => {
    const lines = key.split('\n');
    for (let at = 1; at < lines.length - 2; at += 1) {
      const { fault } = checkSshKey(lines.toSpliced(at, 1).join('\n'));
      expect(fault).toBe('Invalid private key: it is damaged or a part of it is missing.');
    }
  });

  it.each([...all, ['legacy with headers', keys.encrypted['legacy'] ?? '']])(
    'repairs white space (%s)',
    (_format, key) => {
      const proper = repairSshKey(key);
      const lines = key.trim().split('\n');
      const spoilt = [
        lines.map((line) => `    ${line}`).join('\n'),
        lines.map((line) => `${line}  \t`).join('\r\n'),
        lines.join('\n\n'),
        `\n\n${lines.join('\n')}`,
        ...(key.includes(':') ? [] : [lines.join(' '), lines.join('')]),
      ];
      for (const text of spoilt) {
        expect(checkSshKey(text).fault).toBeNull();
        expect(repairSshKey(text)).toBe(proper);
      }
      expect(proper.replaceAll('\n', '')).toBe(key.replaceAll('\n', ''));
    },
  );

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

  it('returns quickly for any text, and never repeats the text', () => {
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
