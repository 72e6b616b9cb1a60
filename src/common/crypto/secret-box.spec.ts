import fc from 'fast-check';
import { isSealed, rowContext, SecretBox, UnsealError } from './secret-box.js';

const box = new SecretBox('first secret key');
const rotated = new SecretBox('second secret key', 'first secret key');
const place = rowContext('credentials', 7, 'inputs.password');

const reason = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof UnsealError) return error.reason;
  }
  return 'opened';
};

describe('SecretBox', () => {
  it('opens every text that it sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plain, context) => {
        const token = box.seal(plain, context);
        expect(isSealed(token)).toBe(true);
        expect(box.open(token, context)).toBe(plain);
      }),
    );
  });

  it('writes the documented form, and never the same ciphertext twice', () => {
    const token = box.seal('hello', place);
    expect(token).toMatch(new RegExp(`^\\$sealed\\$v1\\$${box.keyId}\\$[A-Za-z0-9_-]+$`));
    expect(token).not.toContain('hello');
    expect(box.seal('hello', place)).not.toBe(token);
  });

  it('does not open a value that was moved to another row, column or table', () => {
    const token = box.seal('hello', place);
    for (const other of [
      rowContext('credentials', 8, 'inputs.password'),
      rowContext('credentials', 7, 'inputs.token'),
      rowContext('templates', 7, 'inputs.password'),
      '',
    ]) {
      expect(reason(() => box.open(token, other))).toBe('tampered');
    }
  });

  it('separates the parts of a context', () => {
    expect(rowContext('a', 1, '2:b')).not.toBe(rowContext('a:1', 2, 'b'));
    expect(rowContext('a', 1, 'b')).toBe(rowContext('a', '1', 'b'));
  });

  it('refuses every altered character', () => {
    const token = box.seal('a secret of some length', place);
    for (let index = 0; index < token.length; index += 1) {
      const other = token[index] === 'A' ? 'B' : 'A';
      const altered = token.slice(0, index) + other + token.slice(index + 1);
      expect(reason(() => box.open(altered, place))).not.toBe('opened');
    }
  });

  it('refuses every truncation and any garbage with an UnsealError', () => {
    const token = box.seal('a secret', place);
    for (let length = 0; length < token.length; length += 1) {
      expect(reason(() => box.open(token.slice(0, length), place))).not.toBe('opened');
    }
    fc.assert(
      fc.property(fc.string(), (garbage) => {
        expect(reason(() => box.open(garbage, place))).toBe('format');
        expect(reason(() => box.open(`$sealed$v1$${garbage}`, place))).not.toBe('opened');
      }),
    );
  });

  it('opens old values after a key rotation, and requests that they are sealed again', () => {
    const old = box.seal('hello', place);
    expect(rotated.open(old, place)).toBe('hello');
    expect(rotated.needsReseal(old)).toBe(true);
    const fresh = rotated.seal('hello', place);
    expect(rotated.needsReseal(fresh)).toBe(false);
    expect(reason(() => box.open(fresh, place))).toBe('unknown_key');
    expect(rotated.needsReseal('plain text')).toBe(true);
  });

  it('derives the same keys in every process', () => {
    expect(new SecretBox('first secret key').keyId).toBe(box.keyId);
    expect(rotated.keyId).not.toBe(box.keyId);
  });

  it('refuses an empty key', () => {
    expect(() => new SecretBox('')).toThrow('must not be empty');
  });

  it('does not show the value in its errors', () => {
    const token = box.seal('canary', place);
    expect(() => box.open(token, '')).toThrow('A stored secret cannot be decrypted (tampered).');
  });
});
