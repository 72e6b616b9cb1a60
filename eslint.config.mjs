import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const RESTRICTED_SYNTAX = [
  {
    selector: "CallExpression[callee.property.name='save']",
    message: 'save() reads, walks relations and may delete: use insert or update.',
  },
  {
    selector: "CallExpression[callee.property.name='take'][callee.object.type='CallExpression']",
    message: 'take() with a join is two statements: page by ids, then read the rows.',
  },
  {
    selector: "CallExpression[callee.name='forwardRef']",
    message: 'A cycle is broken by an event or a port, not by forwardRef.',
  },
  {
    selector: "MemberExpression[object.name='Scope'][property.name='REQUEST']",
    message: 'Request scope rebuilds the chain for every request: use AsyncLocalStorage.',
  },
  {
    selector: "Property[key.name='synchronize'][value.value=true]",
    message: 'Tables change by migrations only.',
  },
];

const BOUNDED = {
  selector: "AssignmentExpression[operator='+='][right.name=/^(text|chunk|piece|data)$/]",
  message: 'A program may print without end: keep its output in a BoundedText.',
};

const NO_ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Settings come from src/config.',
};

/** Files that may read the environment: they start the program. */
const ENTRY_POINTS = [
  'src/main.ts',
  'src/worker.ts',
  'src/run-process.ts',
  'src/cli.ts',
  'src/cli/**',
];

/** Names the runtime provides to the plain scripts. */
const NODE_GLOBALS = [
  ...['process', 'console', 'Buffer', 'URL', 'URLSearchParams', 'AbortSignal', 'AbortController'],
  ...['fetch', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  ...['TextDecoder', 'TextEncoder', 'structuredClone'],
];

/** Names the test runner provides to the tests of the plain scripts. */
const TEST_GLOBALS = [
  'describe',
  'it',
  'expect',
  'beforeAll',
  'afterAll',
  'beforeEach',
  'afterEach',
];

/** Names a browser provides to the scripts of the pages. */
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
      // "modified": a switch counts once, however many plain cases it has.
      complexity: ['error', { max: 20, variant: 'modified' }],
      eqeqeq: 'error',
      'max-depth': ['error', 4],
      // Refusing control characters is this program's business.
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
    // An invariant that the compiler cannot see is named: src/common/invariants.ts.
    files: ['src/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  {
    // The entry points hand the environment to src/config, runner and boundary parts of it to programs.
    files: ['src/**/*.ts'],
    ignores: [
      ...ENTRY_POINTS,
      ...['src/config/**', 'src/execution/runner/**', 'src/execution/boundary/**', '**/*.spec.ts'],
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
    // Classes that take fields from declarations elsewhere, which only merging can say.
    files: ['src/config/settings.ts', 'src/**/*.{entity,schema}.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-declaration-merging': 'off',
      '@typescript-eslint/no-empty-object-type': 'off',
    },
  },
  {
    // A test file is one list of cases inside one function, a migration one list of statements.
    files: ['test/**', '**/*.spec.ts', '**/*.spec.mjs', 'migrations/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // Loaded by Node (docs/decisions/0071): what Jest gives to a file stands on its globals.
    files: ['test/**', 'src/**/*.spec.ts'],
    // Run by Jest: they start with `@jest-environment node`.
    ignores: [
      'src/code-hosts/signature-work.spec.ts',
      'src/common/http/minimum-body-rate.spec.ts',
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
    // A module that the build bundles with its packages.
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
