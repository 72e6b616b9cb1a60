import { execFileSync } from 'node:child_process';
import { compileNamePattern, namesMatching } from './name-pattern.js';

const NAMES = [
  ...['web-1', 'web-22.example.org', 'WEB-3', 'db', 'db_1', 'böse-1', 'a]b', 'a[b', 'x y', 'a-b'],
  ...['192.168.0.1', '::1', 'aab', 'abab', '٣', 'web', 'a:b', 'a/b', 'prod#1', '_x'],
];

/** Patterns in common notations, and patterns that JavaScript would read differently from Python. */
const PATTERNS = [
  ...['web', 'web-\\d+', 'web\\-1', 'web-1$', '^web', '\\Aweb\\Z', 'web|db', '(?:web|db)_?\\d*$'],
  ...['(?i)web', '(?P<kind>web|db)-', '.*\\.example\\.org', '[a-c]+$', '[^w]', '[]a]+', '[^]a]+'],
  ...['[[a]+', '[\\w-]+$', '\\w+$', '\\W', '\\d', '\\D+$', '\\S+$', 'x\\ y', 'a\\:b', 'a\\/b'],
  ...['prod\\#1', '(a)\\1', '(ab){2}', '(?!web)', '(?=.*1)', '\\_x', '[\\d.]+$', '', '.*[\\]]'],
  ...[
    'b[\\W]',
    '.*[\\W\\d]',
    'x[\\W]y',
    'b\\b',
    '.*\\bs',
    'web\\b',
    'a\\B',
    'db\\B',
    'b\\B',
    'böse\\b',
  ],
];

const MATCH_IN_PYTHON = `import json, re, sys
patterns, names = json.load(sys.stdin)
print(json.dumps([[name for name in names if re.match(one, name)] for one in patterns]))`;

describe('patterns for names of hosts', () => {
  it('match as in Python', async () => {
    const input = JSON.stringify([PATTERNS, NAMES]);
    const output = execFileSync('python3', ['-c', MATCH_IN_PYTHON], {
      ...{ input, encoding: 'utf8', env: { ...process.env, PYTHONIOENCODING: 'utf8' } },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const expected = JSON.parse(output) as string[][];
    const found: unknown[] = [];
    for (const pattern of PATTERNS) {
      const names = await namesMatching(pattern, NAMES);
      found.push([pattern, ...NAMES.filter((name) => names.has(name))]);
    }
    expect(found).toEqual(PATTERNS.map((pattern, index) => [pattern, ...(expected[index] ?? [])]));
  });

  it.each(['(', '[a', 'a**', '(?P<x>a)(?P<x>b)', '*'])('are refused: %s', (pattern) => {
    expect(compileNamePattern(pattern).fault).toEqual(expect.any(String));
  });

  it('stop when they take too long, and do not block the event loop', async () => {
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 50);
    const endless = namesMatching('(a+)+$', [`${'a'.repeat(60)}!`]);
    await expect(endless).rejects.toThrow('takes too long');
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(20);
  }, 60_000);
});
