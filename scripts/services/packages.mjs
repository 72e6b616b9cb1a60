import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

import { Problem } from '../console/problem.mjs';
import { withLock } from '../processes/lock.mjs';
import { run } from '../processes/run.mjs';
import { readJson, readText } from './private-file.mjs';

const INSTALL_LIMIT_MS = 15 * 60_000;
const BUILD_LIMIT_MS = 10 * 60_000;
const BUILD_INPUTS = [
  'src',
  'migrations',
  'scripts/build.mjs',
  'scripts/services/compile.mjs',
  '.swcrc',
  'package-lock.json',
];

/** File with the hash of the sources that `dist` was built from. */
export const BUILD_STAMP = join('dist', '.sources');

/**
 * Returns true if node_modules has the packages of the lockfile: the package manager writes its own list of
 * installed packages as the last step of an installation.
 *
 * @param {string} root
 */
export function packagesAreCurrent(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true;
    const found = installed[path];
    if (!found) return optional === true;
    return found.version === version && found.integrity === integrity;
  });
}

/**
 * Returns the packages of a lockfile by their path; undefined if there is no file.
 *
 * @param {string} path
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean }> | undefined}
 */
function packagesIn(path) {
  return readJson(path)?.packages;
}

/**
 * Installs the packages of the lockfile unless they are installed. Resolves to a description of the work.
 *
 * @param {string} root
 * @param {string} log
 */
export async function installPackages(root, log) {
  if (packagesAreCurrent(root)) return 'up to date';
  return withLock(join(root, 'dist', '.lock'), async (shareWith) => {
    if (packagesAreCurrent(root)) return 'up to date';
    /**
     * @param {readonly string[]} args
     * @param {string} name
     */
    const npm = (args, name) =>
      run('npm', [...args, '--include=dev', '--include=optional'], {
        cwd: root,
        // The lifecycle variables of an outer "npm start" or "npm test" must not affect npm.
        env: { ...process.env, NODE_ENV: 'development', NODE_OPTIONS: '' },
        log,
        name,
        onStart: shareWith,
        timeoutMs: INSTALL_LIMIT_MS,
      });
    try {
      await npm(['ci'], 'npm ci');
      return 'installed';
    } catch (error) {
      if (!refusesLockfile(error)) throw error;
    }
    await npm(['install', '--no-save'], 'npm install');
    return 'installed; npm ci refused the lockfile, so npm install --no-save was used';
  });
}

// Versions of npm disagree about optional packages of other platforms, and `npm ci` then refuses a lockfile
// that another version of npm wrote. Such a lockfile is still complete.
/** @param {unknown} error */
function refusesLockfile(error) {
  return error instanceof Problem && error.output.includes('code EUSAGE');
}

/**
 * Returns a hash of everything the build reads. If it is unchanged, the build can be skipped.
 *
 * @param {string} root
 */
export function sourceHash(root) {
  const hash = createHash('sha256').update(process.version.replace(/\..*/, ''));
  for (const file of BUILD_INPUTS.flatMap((input) => filesUnder(join(root, input)))) {
    if (file.endsWith('.spec.ts')) continue;
    hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/**
 * Builds `dist` unless it is newer than its sources. Resolves to a description of the work.
 *
 * @param {string} root
 * @param {string} log
 * @param {readonly string[]} [args] of `npm run build`
 */
export async function buildWhenNeeded(root, log, args = []) {
  const isCurrent = () => readText(join(root, BUILD_STAMP)) === sourceHash(root);
  if (isCurrent()) return 'up to date';
  return withLock(join(root, 'dist', '.lock'), async (shareWith) => {
    if (isCurrent()) return 'up to date';
    await run(process.execPath, [join(root, 'scripts', 'build.mjs'), ...args], {
      cwd: root,
      log,
      name: 'The build',
      onStart: shareWith,
      timeoutMs: BUILD_LIMIT_MS,
    });
    return 'built';
  });
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  const kind = statSync(path, { throwIfNoEntry: false });
  if (!kind) return [];
  if (!kind.isDirectory()) return [path];
  const names = readdirSync(path).sort();
  return names.flatMap((name) => filesUnder(join(path, name)));
}
