import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { Problem } from '../console/problem.mjs';
import { run } from '../processes/run.mjs';

const INSTALL_LIMIT_MS = 15 * 60_000;

/** Each program and the Debian package it comes with. */
const DEBIAN_PACKAGES = {
  git: 'git',
  'redis-server': 'redis-server',
  'ansible-runner': 'python3-ansible-runner',
  'ansible-playbook': 'ansible-core',
  chromium: 'chromium',
};

/** Programs that only some callers need, by the option that asks for them. */
const ON_REQUEST = { 'redis-server': 'withRedis', chromium: 'withBrowser' };

const PYTHON_PACKAGES = ['ansible-runner', 'ansible-core'];

/**
 * Finds the programs the service calls, and installs what is missing where that is permitted:
 * by apt-get, and ansible also into a virtual environment of `home`. Resolves to
 * `{ path, find, detail }`: the PATH for the service, a look-up in it, and what was done.
 */
export async function provideTools({ home, log, ...requests }) {
  const wanted = Object.keys(DEBIAN_PACKAGES).filter(
    (tool) => !(tool in ON_REQUEST) || requests[ON_REQUEST[tool]],
  );
  const environment = environmentOf(home);
  const path = () => pathWithPrograms(home);
  const missing = () => wanted.filter((tool) => findProgram(tool, path()) === null);
  const absent = missing();
  const reasons = [];
  if (absent.length > 0) reasons.push(await installBySystem(absent, log));
  if (missing().some((tool) => tool.startsWith('ansible-'))) {
    reasons.push(await installByPython(environment, log));
  }
  if (missing().length > 0) throw notInstalled(missing(), reasons);
  return {
    path: path(),
    find: (tool) => findProgram(tool, path()),
    detail: absent.length > 0 ? `installed ${absent.join(', ')}` : wanted.join(', '),
  };
}

/** The PATH of this process, followed by the programs that were installed into the data folder. */
export function pathWithPrograms(home) {
  const path = process.env.PATH ?? '';
  const own = join(environmentOf(home), 'bin');
  return existsSync(join(own, 'ansible-runner')) ? `${path}${delimiter}${own}` : path;
}

/** The absolute path of a program in a PATH; null when it is not there. */
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

function environmentOf(home) {
  return join(home, 'venv');
}

function notInstalled(tools, reasons) {
  const packages = tools.map((tool) => DEBIAN_PACKAGES[tool]).join(' ');
  const redis = tools.includes('redis-server') ? ', or set REDIS_URL to a server of yours' : '';
  return new Problem(
    `Missing on PATH: ${tools.join(', ')}. Install them (Debian, Ubuntu: ` +
      `sudo apt-get install ${packages})${redis}, then start again`,
    reasons.filter(Boolean),
  );
}

// Resolves to why it did not work, or null. A failure is not the end: there are other ways.
async function installBySystem(tools, log) {
  const aptGet = findProgram('apt-get');
  if (!aptGet) return null;
  const prefix = await rootPrefix();
  if (!prefix) return 'apt-get needs root or a sudo that asks no password';
  const packages = tools.map((tool) => DEBIAN_PACKAGES[tool]);
  const options = ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', '--no-install-recommends'];
  const install = [...prefix, aptGet, 'install', ...options, ...packages];
  // Lists may be missing (containers) or old; refreshing them first is seconds.
  for (const command of [[...prefix, aptGet, 'update', '-q'], install]) {
    const problem = await attempt(command, log);
    if (problem && command === install) return problem;
  }
  return null;
}

async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram('sudo');
  if (!sudo) return null;
  const { code } = await run(sudo, ['-n', 'true'], { anyCode: true });
  return code === 0 ? [sudo, '-n', '--preserve-env=DEBIAN_FRONTEND'] : null;
}

async function installByPython(environment, log) {
  const python = findProgram('python3');
  if (!python) return null;
  const pip = [join(environment, 'bin', 'python3'), '-m', 'pip'];
  const flags = ['--disable-pip-version-check', '--quiet', '--retries', '1', '--timeout', '15'];
  return (
    (await attempt([python, '-m', 'venv', '--clear', environment], log)) ??
    (await attempt([...pip, 'install', ...flags, ...PYTHON_PACKAGES], log))
  );
}

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
