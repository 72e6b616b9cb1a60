import fc from 'fast-check';
import { toEventRow } from './events.js';
import { MASK, spansOf } from './mask.js';
import { createMasker } from './masker.js';
import { finderOf } from './text-finder.js';

const KEY = '-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwx12345678\n-----END KEY-----\n';

describe('createMasker', () => {
  it.each([
    ['plain', 'p@ss"w\\d', 'say p@ss"w\\d now'],
    ['inside JSON', 'p@ss"w\\d', JSON.stringify({ a: 'x p@ss"w\\d' })],
    ['inside JSON inside JSON', 'p@ss"w', JSON.stringify(JSON.stringify('p@ss"w'))],
    ['as Python writes it', 'pässword', 'p\\u00e4ssword'],
    ['inside JSON that Python writes', 'p"ässword', 'p\\\\\\"\\u00e4ssword'],
    ['as INI files write it', '50%off', 'password = 50%%off'],
    ['base64', 'hunter2', `x ${Buffer.from('hunter2').toString('base64')} y`],
    ['base64 after one byte', 'hunter2-long', Buffer.from('x' + 'hunter2-long').toString('base64')],
    [
      'base64 after a user name',
      'hunter2-long',
      Buffer.from('bob7:' + 'hunter2-long').toString('base64'),
    ],
    ['a line of a key', KEY, 'found qrstuvwx12345678 there'],
    ['regular expression signs', 'a.*(b', 'x a.*(b y'],
  ])('masks a secret %s', (_, secret, text) => {
    const masked = createMasker([secret]).text(text);
    expect(masked).toContain(MASK);
    expect(masked).not.toContain(secret);
  });

  it('does not change other text', () => {
    expect(createMasker(['a.c', KEY, 'ab', '']).text('abc ab -----BEGIN KEY-----')).toBe(
      'abc ab -----BEGIN KEY-----',
    );
  });

  it('masks the longer of two overlapping secrets', () => {
    expect(createMasker(['secret', 'secret-two']).text('secret-two secret')).toBe(
      `${MASK} ${MASK}`,
    );
  });

  it('masks every secret, with any text around it', () => {
    const secret = fc
      .string({ minLength: 3, unit: 'binary' })
      .filter((text) => !MASK.includes(text));
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.string(),
        (secrets, around) => {
          const masker = createMasker(secrets);
          for (const word of secrets) {
            expect(masker.text(around + word + around)).toContain(MASK);
            const data = { [word]: [around + word, { deep: word }] };
            expect(JSON.stringify(masker.value(data))).toContain(MASK);
          }
        },
      ),
    );
  });

  it('masks a secret across lines, for any position of the line break', () => {
    for (const secrets of [[], Array.from({ length: 500 }, (_, number) => `other ${number}`)]) {
      const { text } = createMasker(['bucket = "word-of-secrecy"', 'hunter2-hunter2', ...secrets]);
      expect(text('a bucket\n  = "word-of-secrecy" b')).toBe(`a ${MASK} b`);
      expect(text('a bucket =\r\n"word-of-\r\nsecrecy" b')).toBe(`a ${MASK} b`);
      expect(text('x, hunter2-\nhunter2, hunt\ner2-hunter2\n')).toBe(`x, ${MASK}, ${MASK}\n`);
    }
  });

  it('masks a secret that is wrapped at any width', () => {
    const secret = 'correct horse-battery staple';
    const message = `found {'A': 'some words', 'B': '${secret}', 'C': 'more words'}`;
    // The shorter secrets are parts of the longer one, of which no rest must remain.
    const { text } = createMasker([secret, 'correct horse', 'battery']);
    for (let width = 8; width < message.length; width += 1) {
      const wrapped = message.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? '';
      expect(text(wrapped).replaceAll('\n', '')).toBe(message.replace(secret, MASK));
    }
  });

  it('masks a secret across lines that are colored separately', () => {
    const { text } = createMasker(['hunter2-hunter2']);
    const shown = '\u001b[1;35ma hunter2-\u001b[0m\r\n\u001b[1;35mhunter2 b\u001b[0m';
    expect(text(shown)).toBe(`\u001b[1;35ma ${MASK} b\u001b[0m`);
  });

  it('masks a secret across pieces of output, and keeps the number of lines', () => {
    const { output } = createMasker(['hunter2-hunter2', KEY]);
    const pieces = [
      'a hunter2-',
      '\u001b[1;35mhunter2\u001b[0m b\nno more',
      '',
      ...KEY.split('\n'),
    ];
    const masks = KEY.trimEnd()
      .split('\n')
      .map(() => MASK);
    expect(output(pieces)).toEqual([
      ...[`a ${MASK}`, `${MASK}\u001b[0m b\nno more`, ''],
      ...[...masks, ''],
    ]);
    expect(output([KEY])).toEqual([`${masks.join('\n')}\n`]);
    expect(createMasker([]).output(pieces)).toEqual(pieces);
  });

  it('counts the pieces that must wait because they may end with the start of a secret', () => {
    const { openPieces } = createMasker(['hunter2-hunter2', KEY, 'wait here']);
    expect(openPieces(['.'])).toBe(0);
    expect(openPieces(['.', 'b hunter2-\u001b[0m'])).toBe(1);
    expect(openPieces(['.\nhunt', 'er2', '', '-'])).toBe(4);
    expect(openPieces(['.', 'hunter2-hunter2.'])).toBe(0);
    expect(openPieces(['.', 'hunter2-hunter2 w'])).toBe(1);
    // The last piece ends a secret and can start another, so all pieces of the first secret wait.
    expect(openPieces(['.', 'hunter2-', 'hunter2 and h'])).toBe(2);
    expect(openPieces(['.', 'hunter2-', 'hunter2-'])).toBe(2);
    expect(openPieces(['x', ...KEY.split('\n').slice(0, 3)])).toBe(3);
    expect(openPieces([])).toBe(0);
    expect(createMasker([]).openPieces(['h'])).toBe(0);
  });

  it('masks a secret across pieces of output, for any sizes of the pieces', () => {
    const secret = 'correct horse-battery staple';
    const masker = createMasker([secret, 'horse', 'staples']);
    const message = `found ${secret}s, ${secret} and horses, correct horses`;
    for (let width = 3; width < message.length; width += 1) {
      const pieces = message.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      const waiting: string[] = [];
      const shown = pieces.flatMap((piece) => {
        waiting.push(piece);
        return masker.output(waiting.splice(0, waiting.length - masker.openPieces(waiting)));
      });
      shown.push(...masker.output(waiting));
      expect(shown).toEqual(masker.output(pieces));
      expect(shown.join('')).not.toMatch(/batt|ry sta/);
    }
  });

  it('keeps lines that match a secret only without spaces or line breaks', () => {
    const { text } = createMasker(['100', 'one word']);
    for (const shown of ['ok=1\n00:01', 'oneword\n', 'a\noneword b', 'none\nworded']) {
      expect(text(shown).includes(MASK)).toBe(shown === 'none\nworded');
    }
  });

  it('masks a secret of many lines that start with the same character', () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `line-${index}-secret`);
    const startedAt = process.cpuUsage();
    expect(createMasker([lines.join('\n')]).text(`x ${lines[50_000]}`)).toBe(`x ${MASK}`);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(10_000_000);
  });

  it('masks a secret that is longer than a pattern can be', () => {
    const secret = Array.from({ length: 10_000 }, (_, number) => number).join('-');
    const { text } = createMasker([secret]);
    const broken = `${secret.slice(0, 30_000)}\n  ${secret.slice(30_000)}`;
    for (const shown of [secret, broken, btoa(secret)]) {
      expect(text(`x ${shown} y`)).toBe(`x ${MASK} y`);
    }
    expect(text(`x ${secret.slice(1)}`)).toBe(`x ${secret.slice(1)}`);
  });

  it('finds the start of a long secret at the end of output in linear time', () => {
    const { openPieces } = createMasker([`b${'a'.repeat(100_000)}`, 'a'.repeat(100_000)]);
    const startedAt = process.cpuUsage();
    expect(openPieces(['.', `b${'a'.repeat(60_000)}`, 'a'.repeat(30_000)])).toBe(2);
    expect(openPieces(['.', `${'a'.repeat(60_000)}.`, `${'a'.repeat(60_000)}.`])).toBe(0);
    expect(openPieces(['.', `b${'a'.repeat(60_000)}.`, 'a'.repeat(30_000)])).toBe(1);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });

  it('looks for a long secret in similar output within a fraction of a second', () => {
    const { text } = createMasker([`${'a'.repeat(4000)}0`, `${'a'.repeat(4000)}1`]);
    const startedAt = process.cpuUsage();
    expect(text(`${'a'.repeat(64_000)}.`)).toBe(`${'a'.repeat(64_000)}.`);
    expect(text(`${'a'.repeat(64_000)}1`)).toBe(`${'a'.repeat(60_000)}${MASK}`);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });

  it('masks many secrets, the longest first', () => {
    const secrets = Array.from({ length: 500 }, (_, number) => `secret ${number}`);
    const masker = createMasker(secrets);
    for (const secret of [...secrets, btoa(`user:${secrets[7]}`)]) {
      expect(masker.text(`a ${secret}, b`)).toMatch(/^a \S*\*{10}\S*, b$/);
    }
    expect(masker.text('secret 12secret 499secre')).toBe(`${MASK}${MASK}secre`);
    expect(masker.text('se')).toBe('se');
  });

  it('finds the same texts among many as a pattern does, if they contain each other', () => {
    const words = Array.from({ length: 1000 }, (_, id) => id.toString(2)).filter((_, id) => id % 3);
    const forms = words.filter(({ length }) => length > 2);
    const longestFirst = [...forms].sort((left, right) => right.length - left.length);
    const input = Array.from({ length: 500 }, (_, id) => (id * 7919).toString(2)).join('-');
    const expected = spansOf(new RegExp(longestFirst.join('|'), 'g'), input);
    expect(finderOf(new Set(forms))(input)).toEqual(expected);
  });

  it('masks a whole event and keeps its identifiers', () => {
    const masker = createMasker(['tok-123', '424242']);
    const row = toEventRow({
      uuid: 'tok-123',
      counter: 424242,
      event: 'runner_on_ok',
      stdout: 'ok tok-123',
      event_data: {
        task: 'use tok-123',
        host: 'tok-123',
        res: { 'tok-123': 424242, other: 4242420 },
      },
    });
    expect(masker.events([row])[0]).toMatchObject({
      uuid: 'tok-123',
      counter: 424242,
      stdout: `ok ${MASK}`,
      task: `use ${MASK}`,
      hostName: MASK,
      eventData: { res: { [MASK]: MASK, other: 4242420 } },
    });
  });

  it('keeps the counts of the final event', () => {
    const row = toEventRow({
      uuid: 'u',
      counter: 1,
      event: 'playbook_on_stats',
      event_data: { ok: { a: 100 } },
    });
    const [masked] = createMasker(['100']).events([row]);
    expect(masked?.eventData).toEqual({ ok: { a: 100 } });
  });
});
