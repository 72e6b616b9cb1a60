import fc from 'fast-check';
import { constantTimeEqual } from './constant-time.js';

describe('constantTimeEqual', () => {
  it('agrees with ordinary comparison of text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        const same = Buffer.from(left).equals(Buffer.from(right));
        expect(constantTimeEqual(left, right)).toBe(same);
        expect(constantTimeEqual(left, left)).toBe(true);
      }),
    );
  });

  it('compares bytes with text and does not throw on unequal lengths', () => {
    expect(constantTimeEqual(Buffer.from('key'), 'key')).toBe(true);
    expect(constantTimeEqual('', 'key')).toBe(false);
    expect(constantTimeEqual('key', 'key ')).toBe(false);
  });
});
