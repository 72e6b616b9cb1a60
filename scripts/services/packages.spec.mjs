import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { packagesAreCurrent, sourceHash } from './packages.mjs';

describe('the decision to install and build', () => {
  /** @type {string} */
  let root;
  /**
   * @param {string} path
   * @param {string} text
   */
  const write = (path, text) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  /** @param {object} packages */
  const lock = (packages) => JSON.stringify({ packages });
  /**
   * @param {string} version
   * @param {object} [more]
   */
  const package_ = (version, more = {}) => ({ version, integrity: `sha512-${version}`, ...more });
  const wanted = {
    '': { name: 'root' },
    'node_modules/one': package_('1.0.0'),
    'node_modules/other-platform': package_('2.0.0', { optional: true }),
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'packages-'));
    write('package-lock.json', lock(wanted));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is to install in a fresh clone', () => {
    expect(packagesAreCurrent(root)).toBe(false);
  });

  it('ignores optional packages of other platforms', () => {
    write('node_modules/.package-lock.json', lock({ 'node_modules/one': package_('1.0.0') }));
    expect(packagesAreCurrent(root)).toBe(true);
  });

  it.each([
    ['another version', { 'node_modules/one': package_('1.0.1') }],
    ['another content', { 'node_modules/one': package_('1.0.0', { integrity: 'sha512-x' }) }],
    ['a missing package', {}],
  ])('is to install again for %s', (_what, installed) => {
    write('node_modules/.package-lock.json', lock(installed));
    expect(packagesAreCurrent(root)).toBe(false);
  });

  it('is to build again after a change of a source file, and not of a test', () => {
    write('src/main.ts', 'one');
    const before = sourceHash(root);
    write('src/main.spec.ts', 'a test');
    expect(sourceHash(root)).toBe(before);
    write('src/main.ts', 'two');
    expect(sourceHash(root)).not.toBe(before);
  });
});
