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
  'docs/installing.md': 'test/faults/installing.spec.ts',
  'docs/single-sign-on.md': EXAMPLES,
  'docs/tutorial.md': 'test/browser/tutorial.spec.ts',
};

/** Commands that these tests leave out, and what the tests that run them contain. */
const EXCEPTIONS: readonly (readonly [command: string, test: string, text: string])[] = [
  ['npm start', 'test/faults/backup.spec.ts', "spawn('npm', ['start']"],
  [
    'npm run controller -- import-logins settings.json',
    'test/api/authenticators-import.e2e-spec.ts',
    'importLogins([file])',
  ],
];

/** Commands within sentences and tables, by the tests or the scripts of CI that run them. */
const INLINE: readonly (readonly [command: RegExp, path: string, text: string])[] = [
  [/^npm (?:start|ci)$/, 'test/faults/backup.spec.ts', "spawn('npm', ['start']"],
  [/^(?:RECORD_\w+=1 )?npm test\b/, '.ci/run', 'npm test'],
  [/^npm run test:watch\b/, 'scripts/test-watch.spec.mjs', 'test:watch'],
  [/^npm run check$/, '.ci/run', 'npm run check'],
  [/^npm run test:deep\b/, '.ci/run', 'npm run test:deep'],
  [/^npm run build$/, 'scripts/setup/test-run.mjs', 'build'],
  [/^npm run demo\b/, 'test/queue/demo.spec.ts', 'scripts/demo.mjs'],
  [/^npm run bench\b/, 'scripts/test-deep.mjs', "bench: ['growth'"],
  [/^docker compose .* up$/, 'test/faults/compose.spec.ts', 'deploy/compose.yaml'],
  [/^npm run openapi$/, 'test/api/administration.e2e-spec.ts', "'openapi'"],
  [/^npm run routes$/, 'test/api/administration.e2e-spec.ts', "'routes'"],
  [/^npm run migration:new /, 'test/api/administration.e2e-spec.ts', "'migration-new'"],
  [/^npm run screenshots$/, 'test/browser/main-pages.spec.ts', 'PICTURES'],
  [/^npm run controller -- cleanup$/, 'test/queue/system-jobs.spec.ts', 'cleanup()'],
  [/^npm run controller -- doctor$/, 'test/security/no-sandbox.e2e-spec.ts', 'doctor'],
  [
    /^npm run controller -- import-logins /,
    'test/api/authenticators-import.e2e-spec.ts',
    'importLogins([',
  ],
  [
    /^npm run controller -- rotate-identity-key$/,
    'test/queue/credential-input-sources.spec.ts',
    "'rotate-identity-key'",
  ],
  [
    /^npm run controller -- rotate-secret-key$/,
    'test/security/secret-key-rotation.e2e-spec.ts',
    'rotateSecretKey',
  ],
  [/^npm run controller -- ([\w-]+)/, 'test/api/administration.e2e-spec.ts', "'$1'"],
  [/^node dist\/(?:main|worker|cli)\.js$/, 'test/faults/support/processes.ts', 'main.js'],
  [/^npx openapi-typescript /, 'test/api/typed-client.e2e-spec.ts', 'openapiTypes('],
  [/^openapi-python-client generate /, 'scripts/testing/releases.mjs', 'openapi-python-client'],
  [/^curl -N .*events\/stream\/$/, 'test/api/live.e2e-spec.ts', 'events/stream/'],
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

it('a test runs the commands of each page', () => {
  expect(pages().filter((page) => blocksOf(page).length > 0)).toEqual(Object.keys(TESTS));
  for (const [page, test] of Object.entries(TESTS))
    expect(read(test)).toContain(page.split('/').at(-1));
});

it.each(EXCEPTIONS)('the command `%s` is an exception, which %s runs', (command, test, text) => {
  const lines = Object.keys(TESTS).flatMap(blocksOf).join('\n').split('\n');
  expect(lines).toContain(command);
  expect(read(test)).toContain(text);
});

it('commands within sentences and tables are tested too', () => {
  const programs = /^(?:[A-Z_]+=\S+ )?(?:npm|npx|node|docker|curl|openapi-python-client) /;
  const commands = pages().flatMap((page) =>
    [
      ...read(page)
        .replace(/^ *```.*?^ *```$/gms, '')
        .matchAll(/`([^`\n]+)`/g),
    ]
      .map(([, code = '']) => code)
      .filter((code) => programs.test(code)),
  );
  const faults = [...new Set(commands)].filter((command) => {
    const [pattern, path = '', text = ''] = INLINE.find(([one]) => one.test(command)) ?? [];
    const [, name = ''] = pattern?.exec(command) ?? [];
    return !pattern || !read(path).includes(text.replace('$1', name));
  });
  expect(faults).toEqual([]);
});
