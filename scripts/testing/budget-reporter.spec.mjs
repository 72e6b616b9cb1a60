/** Costs two seconds: it runs Jest four times on a file of one test. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const JEST = resolve(import.meta.dirname, '../../node_modules/jest/bin/jest.js');

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'budget-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file that is always over its budget, which is inserted so that this file does not declare it. */
const EXPENSIVE = `/**
 * Budget: ${0} s, because every duration exceeds it.
 */
it('passes', () => {});
`;
/** A file that is over its budget in the first measurement only. */
const PAUSED = `${EXPENSIVE}
if (process.env.BUDGET_SECOND_MEASUREMENT) {
  const { readFileSync, writeFileSync } = require('node:fs');
  writeFileSync(__filename, readFileSync(__filename, 'utf8').replace(': 0 s', ': 900 s'));
}
`;

it.each([
  ['fails', 'in both measurements', EXPENSIVE, 1],
  ['passes', 'in the first measurement only', PAUSED, 0],
])('a run %s with a file far over its budget %s', (_result, _when, text, code) => {
  writeFileSync(join(folder, 'one.spec.js'), text);
  const reporters = [join(import.meta.dirname, 'budget-reporter.mjs')];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ jest: { reporters } }));
  const { PATH, HOME, TMPDIR } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [JEST], {
    cwd: folder,
    env: { PATH, HOME, TMPDIR },
    encoding: 'utf8',
  });
  expect(stdout).toMatch(
    /^Far over budget: one\.spec\.js: .* s of 0\nMeasuring again: one\.spec\.js$/m,
  );
  expect(status).toBe(code);
});
