import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { Problem } from '../console/problem.mjs';
import { run } from '../processes/run.mjs';
import { provideJobAccount } from './account.mjs';

const INSTALL_LIMIT_MS = 15 * 60_000;

/**
 * Each program and the Debian package it comes with.
 *
 * @type {Record<string, string>}
 */
const DEBIAN_PACKAGES = {
  git: 'git',
  'redis-server': 'redis-server',
  'ansible-runner': 'python3-ansible-runner',
  'ansible-playbook': 'ansible-core',
  bwrap: 'bubblewrap',
  // The engine without a browser around it, which costs two thirds of the processor time.
  'chromium-headless-shell': 'chromium-headless-shell',
  sshd: 'openssh-server',
  svn: 'subversion',
  podman: 'podman',
  runc: 'runc',
};

/**
 * Programs that only some callers need, by the option that asks for them.
 *
 * @type {Record<string, 'withRedis' | 'forTests'>}
 */
const ON_REQUEST = {
  'redis-server': 'withRedis',
  'chromium-headless-shell': 'forTests',
  sshd: 'forTests',
  svn: 'forTests',
  podman: 'forTests',
  runc: 'forTests',
};

/** Programs the service can do without, and says so where it matters. */
const DISPENSABLE = new Set(['bwrap']);

/** Where programs of administrators are; not on everybody's PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

const PYTHON_PACKAGES = ['ansible-runner', 'ansible-core'];

/**
 * Finds the programs the service calls, and installs what is missing where that is permitted:
 * by apt-get, and ansible also into a virtual environment of `home`. Resolves to
 * `{ path, find, detail }`: the PATH for the service, a look-up in it, and what was done.
 *
 * @param {{ home: string, log: string, withRedis?: boolean, forTests?: boolean }} options
 */
export async function provideTools({ home, log, ...requests }) {
  const wanted = Object.keys(DEBIAN_PACKAGES).filter((tool) => {
    if (tool === 'bwrap' && process.platform !== 'linux') return false;
    const option = ON_REQUEST[tool];
    return option === undefined || requests[option] === true;
  });
  const environment = environmentOf(home);
  const path = () => pathWithPrograms(home);
  const places = () => [path(), ...SYSTEM_FOLDERS].join(delimiter);
  const missing = () => wanted.filter((tool) => findProgram(tool, places()) === null);
  const absent = missing();
  /** @type {(string | null)[]} */
  const reasons = [];
  if (absent.length > 0) reasons.push(await installBySystem(absent, log));
  if (missing().some((tool) => tool.startsWith('ansible-'))) {
    reasons.push(await installByPython(environment, log));
  }
  const needed = missing().filter((tool) => !DISPENSABLE.has(tool));
  if (needed.length > 0) throw notInstalled(needed, reasons);
  await provideJobAccount();
  return {
    path: path(),
    /** @param {string} tool */
    find: (tool) => findProgram(tool, path()),
    detail: detailOf(wanted, absent, missing()),
  };
}

/**
 * What was done, in words.
 *
 * @param {readonly string[]} wanted
 * @param {readonly string[]} absent before anything was installed
 * @param {readonly string[]} missing still
 */
function detailOf(wanted, absent, missing) {
  const installed = absent.filter((tool) => !missing.includes(tool));
  const done = installed.length > 0 ? `installed ${installed.join(', ')}` : wanted.join(', ');
  return missing.length > 0 ? `${done}; without ${missing.join(', ')}` : done;
}

/**
 * The PATH of this process, followed by the programs that were installed into the data folder.
 *
 * @param {string} home
 */
export function pathWithPrograms(home) {
  const path = process.env.PATH ?? '';
  const own = join(environmentOf(home), 'bin');
  return existsSync(join(own, 'ansible-runner')) ? `${path}${delimiter}${own}` : path;
}

/**
 * The absolute path of a program in a PATH; null when it is not there.
 *
 * @param {string} name
 * @param {string} [path]
 */
export function findProgram(name, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** @param {string} home */
function environmentOf(home) {
  return join(home, 'venv');
}

/**
 * @param {readonly string[]} tools
 * @param {readonly (string | null)[]} reasons
 */
function notInstalled(tools, reasons) {
  const packages = tools.map((tool) => DEBIAN_PACKAGES[tool]).join(' ');
  const redis = tools.includes('redis-server') ? ', or set REDIS_URL to a server of yours' : '';
  return new Problem(
    `Missing on PATH: ${tools.join(', ')}. Install them (Debian, Ubuntu: ` +
      `sudo apt-get install ${packages})${redis}, then start again`,
    reasons.filter((reason) => reason !== null),
  );
}

// Resolves to why it did not work, or null. A failure is not the end: there are other ways.
/**
 * @param {readonly string[]} tools
 * @param {string} log
 */
async function installBySystem(tools, log) {
  const aptGet = findProgram('apt-get');
  if (!aptGet) return null;
  const prefix = await rootPrefix();
  if (!prefix) return 'apt-get needs root or a sudo that asks no password';
  const packages = tools.flatMap((tool) => DEBIAN_PACKAGES[tool] ?? []);
  const options = ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', '--no-install-recommends'];
  const [first = aptGet, ...rest] = [...prefix, aptGet];
  /** @type {(...args: string[]) => [file: string, ...args: string[]]} */
  const asRoot = (...args) => [first, ...rest, ...args];
  const install = asRoot('install', ...options, ...packages);
  // Lists may be missing (containers) or old; refreshing them first is seconds.
  for (const command of [asRoot('update', '-q'), install]) {
    const problem = await attempt(command, log);
    if (problem && command === install) return problem;
  }
  return null;
}

/** @returns {Promise<string[] | null>} */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram('sudo');
  if (!sudo) return null;
  const { code } = await run(sudo, ['-n', 'true'], { anyCode: true });
  return code === 0 ? [sudo, '-n', '--preserve-env=DEBIAN_FRONTEND'] : null;
}

/**
 * @param {string} environment
 * @param {string} log
 */
async function installByPython(environment, log) {
  const python = findProgram('python3');
  if (!python) return null;
  /** @type {[string, ...string[]]} */
  const pip = [join(environment, 'bin', 'python3'), '-m', 'pip'];
  const flags = ['--disable-pip-version-check', '--quiet', '--retries', '1', '--timeout', '15'];
  return (
    (await attempt([python, '-m', 'venv', '--clear', environment], log)) ??
    (await attempt([...pip, 'install', ...flags, ...PYTHON_PACKAGES], log))
  );
}

/**
 * @param {readonly [file: string, ...args: string[]]} command
 * @param {string} log
 */
async function attempt([file, ...args], log) {
  try {
    await run(file, args, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      log,
      timeoutMs: INSTALL_LIMIT_MS,
    });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.message, ...error.details.slice(-3)].join('; ');
  }
}
