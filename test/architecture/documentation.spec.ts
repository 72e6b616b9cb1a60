/** Every command in the documentation is run by a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

const EXAMPLES = 'test/api/documentation.e2e-spec.ts';

/** Pages with commands, and the tests that read the commands from there. */
const TESTS: Record<string, string> = {
  'README.md': EXAMPLES,
  'docs/api-by-example.md': EXAMPLES,
  'docs/applications.md': EXAMPLES,
  'docs/backup.md': 'test/faults/backup.spec.ts',
  'docs/clients.md': EXAMPLES,
  'docs/how-to.md': EXAMPLES,
  'docs/single-sign-on.md': EXAMPLES,
  'docs/tutorial.md': 'test/browser/tutorial.spec.ts',
};

/** Commands that these tests leave out, and what the tests that run them contain. */
const EXCEPTIONS: readonly (readonly [command: string, test: string, text: string])[] = [
  ['npm start', 'test/faults/backup.spec.ts', "spawn('npm', ['start']"],
  ['OUTBOUND_ALLOW=127.0.0.0/8 npm start', 'test/faults/backup.spec.ts', "spawn('npm', ['start']"],
  [
    'npm run controller -- import-logins settings.json',
    'test/api/authenticators-import.e2e-spec.ts',
    'importLogins([file])',
  ],
];

const read = (path: string): string => readFileSync(join(PACKAGE_FOLDER, path), 'utf8');

const pages = (): string[] => [
  ...readdirSync(PACKAGE_FOLDER).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(PACKAGE_FOLDER, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Returns the fenced blocks of a page that a shell would run. */
const blocksOf = (page: string): string[] =>
  [...read(page).matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)]
    .filter(([, language, text = '']) => language === 'sh' || /^\s*(curl|npm) /m.test(text))
    .map(([, , text = '']) => text.trim());

it('of each page with commands', () => {
  expect(pages().filter((page) => blocksOf(page).length > 0)).toEqual(Object.keys(TESTS));
  for (const [page, test] of Object.entries(TESTS))
    expect(read(test)).toContain(page.split('/').at(-1));
});

it.each(EXCEPTIONS)('but for `%s`, which %s runs', (command, test, text) => {
  const lines = Object.keys(TESTS).flatMap(blocksOf).join('\n').split('\n');
  expect(lines).toContain(command);
  expect(read(test)).toContain(text);
});
