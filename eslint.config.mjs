import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const RESTRICTED_SYNTAX = [
  {
    selector: "CallExpression[callee.property.name='save']",
    message: 'save() reads, cascades to relations and can delete. Use insert() or update().',
  },
  {
    selector: "CallExpression[callee.property.name='take'][callee.object.type='CallExpression']",
    message: 'take() with a join runs two statements. Select a page of ids, then read the rows.',
  },
  {
    selector: "CallExpression[callee.name='forwardRef']",
    message: 'Break the cycle with an event or a port instead of forwardRef.',
  },
  {
    selector: "MemberExpression[object.name='Scope'][property.name='REQUEST']",
    message: 'Request scope creates the providers again for every request. Use AsyncLocalStorage.',
  },
  {
    selector: "Property[key.name='synchronize'][value.value=true]",
    message: 'Change tables only in migrations.',
  },
];

const BOUNDED = {
  selector: "AssignmentExpression[operator='+='][right.name=/^(text|chunk|piece|data)$/]",
  message: 'The output of a program has no limit. Collect it in a BoundedText.',
};

const NO_ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Read settings from src/config.',
};

/** Files that start a program, and can read environment variables. */
const ENTRY_POINTS = [
  'src/main.ts',
  'src/worker.ts',
  'src/run-process.ts',
  'src/cli.ts',
  'src/cli/**',
];

/** Globals of Node in scripts. */
const NODE_GLOBALS = [
  ...['process', 'console', 'Buffer', 'URL', 'URLSearchParams', 'AbortSignal', 'AbortController'],
  ...['fetch', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  ...['TextDecoder', 'TextEncoder', 'structuredClone'],
];

/** Globals of the test runner in the tests of scripts. */
const TEST_GLOBALS = [
  'describe',
  'it',
  'expect',
  'beforeAll',
  'afterAll',
  'beforeEach',
  'afterEach',
];

/** Globals of browsers in page scripts. */
const BROWSER_GLOBALS = [
  ...[
    'document',
    'window',
    'location',
    'navigator',
    'history',
    'localStorage',
    'sessionStorage',
    'EventSource',
  ],
  ...['fetch', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'URL'],
  ...[
    'URLSearchParams',
    'FormData',
    'AbortController',
    'HTMLSelectElement',
    'HTMLElement',
    'DOMParser',
    'CSSStyleSheet',
    'IntersectionObserver',
    'MutationObserver',
    'Option',
    'getSelection',
    'Event',
  ],
  'console',
];

export default tseslint.config(
  { ignores: ['dist/', 'var/', 'coverage/', 'node_modules/', 'docs/', 'test/client/journey.ts'] },
  eslint.configs.recommended,
  {
    rules: {
      // "modified" counts a switch once, not each of its cases.
      complexity: ['error', { max: 20, variant: 'modified' }],
      eqeqeq: 'error',
      'max-depth': ['error', 4],
      // Validation rejects control characters.
      'no-control-regex': 'off',
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', ...RESTRICTED_SYNTAX],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.recommended],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-unused-vars': 'off',
    },
  },
  {
    // Use src/common/invariants.ts for what the compiler cannot prove.
    files: ['src/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  {
    // Entry points pass the environment to src/config; runner and boundary pass parts of it to programs.
    files: ['src/**/*.ts'],
    ignores: [
      ...ENTRY_POINTS,
      ...['src/config/**', 'src/execution/runner/**', 'src/execution/sandbox/**', '**/*.spec.ts'],
    ],
    rules: { 'no-restricted-syntax': ['error', ...RESTRICTED_SYNTAX, NO_ENVIRONMENT] },
  },
  {
    files: ['src/execution/{runner,boundary}/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-syntax': ['error', ...RESTRICTED_SYNTAX, BOUNDED] },
  },
  {
    files: ['src/execution/{worker,inventory-updates,ad-hoc,project-updates}/**/*.ts'],
    ignores: ['**/*.spec.ts', 'src/execution/worker/run-output.ts'],
    rules: { 'no-restricted-syntax': ['error', ...RESTRICTED_SYNTAX, NO_ENVIRONMENT, BOUNDED] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/cli.ts', 'src/cli/**', '**/*.spec.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // Classes whose fields are declared elsewhere need declaration merging.
    files: ['src/config/settings.ts', 'src/**/*.{entity,schema}.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-declaration-merging': 'off',
      '@typescript-eslint/no-empty-object-type': 'off',
    },
  },
  {
    // A test file is one function with a list of cases, and a migration one with a list of statements.
    files: ['test/**', '**/*.spec.ts', '**/*.spec.mjs', 'migrations/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // Node loads these files (docs/decisions/0071), with the API of Jest as globals.
    files: ['test/**', 'src/**/*.spec.ts'],
    // Jest loads these files, because they start with `@jest-environment node`.
    ignores: [
      'src/code-hosts/signature-work.spec.ts',
      'src/common/http/minimum-body-rate.spec.ts',
      'src/execution/runner/untrusted-files.spec.ts',
      'src/live-updates/live-client.spec.ts',
      'src/notifications/backends/irc.backend.spec.ts',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        { name: '@jest/globals', message: '`jest` and `expect` are globals here.' },
      ],
    },
  },
  {
    files: ['migrations/**'],
    rules: { 'max-lines': 'off' },
  },
  {
    files: ['src/**/*.js'],
    languageOptions: { globals: readonly(BROWSER_GLOBALS), sourceType: 'script' },
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // An ES module that the build bundles with its packages.
    files: ['src/browser/static/editor.js'],
    languageOptions: { sourceType: 'module' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: readonly(NODE_GLOBALS) },
  },
  {
    files: ['**/*.spec.mjs'],
    languageOptions: { globals: readonly(TEST_GLOBALS) },
  },
);

function readonly(names) {
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}
