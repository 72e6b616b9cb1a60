import fc from 'fast-check';
import { MAX_DEPTH } from '../common/fields/text.js';
import { InvalidPayload, parsePayload } from './payload.js';

const faultOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof InvalidPayload) return error.fault;
    throw error;
  }
  return 'none';
};

describe('webhook bodies', () => {
  const parseBody = (body: string | Buffer, contentType: string | null = null) =>
    parsePayload(Buffer.from(body), contentType, 'payload');
  const FORM = 'application/x-www-form-urlencoded';
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  it('from service A may be form-encoded', () => {
    const json = '{"after":"abc","text":"a & b = ü"}';
    const event = parseBody(`payload=${encodeURIComponent(json)}`, `${FORM}; charset=utf-8`);
    expect(event).toEqual({ text: json, value: JSON.parse(json) });
  });

  it('may be empty', () => {
    expect(parseBody('')).toMatchObject({ value: {}, text: '{}' });
    expect(parseBody(' \n')).toMatchObject({ value: {}, text: '{}' });
  });

  it('keep numbers beyond 2^53, escapes and order as received', () => {
    const text = '{"id": 12345678901234567890, "text": "\\u0000\\ud800", "b": 1, "a": 2}';
    expect(parseBody(text).text).toBe(text);
    expect(parseBody(`\ufeff${text}`).text).toBe(text);
  });

  it.each<[string, string, string | Buffer]>([
    ['json', 'no JSON', 'hello'],
    ['json', 'a trailing comma', '{"a":1,}'],
    ['json', 'a raw NUL', '{"a":"\0"}'],
    ['json', 'closing brackets only', ']]]]]]]'],
    ['object', 'a list', '[]'],
    ['object', 'null', 'null'],
    ['object', 'a text', '"text"'],
    ['encoding', 'bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['encoding', 'a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['depth', 'one level too many', nested(MAX_DEPTH + 1)],
    ['depth', 'a bracket bomb', '['.repeat(1_000_000)],
  ])('are refused (%s) for %s', (fault, _name, body) => {
    expect(faultOf(() => parseBody(body))).toBe(fault);
  });

  it.each([
    ['form', 'without the field', 'other=1'],
    ['form', 'with the field twice', 'payload={}&payload={}'],
    ['json', 'with garbage in the field', 'payload=%zz'],
  ])('are refused (%s) for a form %s', (fault, _name, body) => {
    expect(faultOf(() => parseBody(body, FORM))).toBe(fault);
  });

  it('from other services may not be form-encoded', () => {
    expect(faultOf(() => parsePayload(Buffer.from('payload={}'), FORM, null))).toBe('media_type');
  });

  it('may be nested as deep as the limit; brackets inside texts do not count', () => {
    expect(faultOf(() => parseBody(nested(MAX_DEPTH)))).toBe('none');
    expect(faultOf(() => parseBody(JSON.stringify({ a: '[{"\\'.repeat(200) })))).toBe('none');
  });

  it('have the same depth as the parser counts', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0;
    const chain = fc.array(fc.constantFrom('\\', '"', '[', '{', 'x'), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(chain, { minLength: 60, maxLength: 68 }), (texts) => {
        const value = texts.reduce<unknown>((inner, text) => ({ [text.join('')]: inner }), 1);
        const expected = depthOf(value) > MAX_DEPTH ? 'depth' : 'none';
        expect(faultOf(() => parseBody(JSON.stringify(value)))).toBe(expected);
      }),
    );
  });

  it('are either read or refused with a reason, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(FORM, 'application/json'),
        (bytes, type) => {
          expect(typeof faultOf(() => parseBody(Buffer.from(bytes), type))).toBe('string');
        },
      ),
    );
  });
});
