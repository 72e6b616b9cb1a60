import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Problem } from '../console/problem.mjs';
import { run } from '../processes/run.mjs';
import { provideJobAccount } from './account.mjs';

const INSTALL_LIMIT_MS = 15 * 60_000;

/**
 * Debian packages of each program, separated by spaces. A program is a name, or a path if only a program at
 * that path suffices.
 *
 * @type {Record<string, string>}
 */
const DEBIAN_PACKAGES = {
  git: 'git',
  gpg: 'gnupg',
  'redis-server': 'redis-server',
  'ansible-runner': 'python3-ansible-runner',
  'ansible-playbook': 'ansible-core',
  bwrap: 'bubblewrap',
  // The browser engine alone, which saves two thirds of the processor time.
  'chromium-headless-shell': 'chromium-headless-shell',
  // Includes the collections whose modules and plugins are clients of this API.
  'ansible-community': 'ansible',
  sshd: 'openssh-server',
  svn: 'subversion',
  slapd: 'slapd',
  // Includes the module for TLS, and rsyslog itself.
  rsyslogd: 'rsyslog-openssl',
  // Images of tests contain the programs of /usr, but not the current Ansible.
  '/usr/bin/ansible-runner': 'python3-ansible-runner',
  podman: 'podman',
  runc: 'runc',
  samba: 'samba-ad-dc samba-ad-provision',
  // Includes the programs for dumps, which the packaged PostgreSQL lacks.
  pg_ctlcluster: 'postgresql',
};

/**
 * Programs that only some callers need, by the option that requests them.
 *
 * @type {Record<string, 'withRedis' | 'forTests' | 'forDomain' | 'forBackup'>}
 */
const ON_REQUEST = {
  'redis-server': 'withRedis',
  'chromium-headless-shell': 'forTests',
  'ansible-community': 'forTests',
  sshd: 'forTests',
  svn: 'forTests',
  slapd: 'forTests',
  rsyslogd: 'forTests',
  '/usr/bin/ansible-runner': 'forTests',
  podman: 'forTests',
  runc: 'forTests',
  samba: 'forDomain',
  pg_ctlcluster: 'forBackup',
};

/** Programs that the service can do without. It reports a missing one where it matters. */
const OPTIONAL = new Set(['bwrap', 'gpg']);

/** Folders of administrators' programs, which are not on every PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

/**
 * Versions of Python that the current Ansible runs on, the newest first, with the file of pinned packages for
 * each (docs/decisions/0129-ansible-runner.md).
 */
const PYTHONS = [
  ['python3.14', 'ansible-3.12.txt'],
  ['python3.13', 'ansible-3.12.txt'],
  ['python3.12', 'ansible-3.12.txt'],
  ['python3.11', 'ansible-3.11.txt'],
];

const REQUIREMENTS = join(dirname(fileURLToPath(import.meta.url)), 'python');

/** Folders whose programs runs can see in their sandbox. */
const VISIBLE_FOLDERS = /^\/(usr|opt)\//;

/** Prints the path of the interpreter. Fails if it cannot create a virtual environment. */
const INTERPRETER =
  'import ensurepip, os, sys, venv; print(os.path.realpath(sys.executable), end="")';

/**
 * @typedef {{ dataDir: string, withSystemAnsible?: boolean }} AnsibleLocation the data folder, and if the
 *   system's Ansible is used in place of the current one
 */

/**
 * Finds the programs the service calls, and installs missing ones if permitted: the current Ansible into a
 * virtual environment of `dataDir`, all others with apt-get. Resolves to `{ path, find, detail, ansible,
 * warning }`: the PATH for the service, a function that finds a program in this PATH, a
 * description of the work, the release of Ansible, and the reason if it is not the current release.
 *
 * @param {AnsibleLocation & { log: string, withRedis?: boolean, forTests?: boolean, forDomain?: boolean,
 *   forBackup?: boolean }} options
 */
export async function provideTools({ dataDir, withSystemAnsible = false, log, ...requests }) {
  const refusal = withSystemAnsible ? null : await installAnsible(environmentOf(dataDir), log);
  const wanted = Object.keys(DEBIAN_PACKAGES).filter((tool) => {
    if (tool === 'bwrap' && process.platform !== 'linux') return false;
    const option = ON_REQUEST[tool];
    return option === undefined || requests[option] === true;
  });
  const path = () => pathWithPrograms({ dataDir, withSystemAnsible });
  const searchPath = () => [path(), ...SYSTEM_FOLDERS].join(delimiter);
  const missing = () => wanted.filter((tool) => findProgram(tool, searchPath()) === null);
  const absent = missing();
  /** @type {(string | null)[]} */
  const reasons = [refusal];
  if (absent.length > 0) reasons.push(await installWithApt(packagesOf(absent), log));
  const needed = missing().filter((tool) => !OPTIONAL.has(tool));
  if (needed.length > 0) throw notInstalled(needed, reasons);
  await provideJobAccount();
  const ansible = await ansibleVersion(path());
  return {
    path: path(),
    /** @param {string} tool */
    find: (tool) => findProgram(tool, path()),
    detail: detailOf(wanted, absent, missing()),
    ansible,
    warning: refusal && `Jobs run with the system's Ansible ${ansible}: ${refusal}`,
  };
}

/**
 * Returns a description of the installation.
 *
 * @param {readonly string[]} wanted
 * @param {readonly string[]} absent before the installation
 * @param {readonly string[]} missing after the installation
 */
function detailOf(wanted, absent, missing) {
  const installed = absent.filter((tool) => !missing.includes(tool));
  const done = installed.length > 0 ? `installed ${installed.join(', ')}` : wanted.join(', ');
  return missing.length > 0 ? `${done}; without ${missing.join(', ')}` : done;
}

/**
 * Returns the PATH of this process, preceded by the Ansible in the data folder.
 *
 * @param {AnsibleLocation} location
 */
export function pathWithPrograms({ dataDir, withSystemAnsible }) {
  const path = process.env.PATH ?? '';
  const environment = environmentOf(dataDir);
  if (withSystemAnsible || !existsSync(stampOf(environment))) return path;
  return `${join(environment, 'bin')}${delimiter}${path}`;
}

/** @param {string} path */
async function ansibleVersion(path) {
  const program = findProgram('ansible-playbook', path) ?? 'ansible-playbook';
  const { stdout } = await run(program, ['--version'], { cwd: '/' });
  return /\[core (\S+)\]/.exec(stdout)?.[1] ?? 'of unknown release';
}

/**
 * Returns the absolute path of a program in a PATH, or null.
 *
 * @param {string} name or an absolute path
 * @param {string} [path]
 */
export function findProgram(name, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = resolve(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The program is not in this folder.
    }
  }
  return null;
}

/** @param {string} dataDir */
function environmentOf(dataDir) {
  return join(dataDir, 'venv');
}

/**
 * Returns the path of the file that contains the folder and the pinned packages of a complete environment.
 *
 * @param {string} environment
 */
function stampOf(environment) {
  return join(environment, 'installed.txt');
}

/** @param {readonly string[]} tools */
function packagesOf(tools) {
  return tools.flatMap((tool) => DEBIAN_PACKAGES[tool]?.split(' ') ?? []);
}

/**
 * @param {readonly string[]} tools
 * @param {readonly (string | null)[]} reasons
 */
function notInstalled(tools, reasons) {
  const packages = packagesOf(tools).join(' ');
  const redis = tools.includes('redis-server') ? ', or set REDIS_URL to your own server' : '';
  return new Problem(
    `Missing on PATH: ${tools.join(', ')}. Install them (Debian, Ubuntu: ` +
      `sudo apt-get install ${packages})${redis}, then start again`,
    reasons.filter((reason) => reason !== null),
  );
}

// Resolves to the reason of a failure, or null. The caller decides if the failure is an error.
/**
 * @param {readonly string[]} packages
 * @param {string} log
 */
async function installWithApt(packages, log) {
  const aptGet = findProgram('apt-get');
  if (!aptGet) return null;
  const prefix = await rootPrefix();
  if (!prefix) return 'apt-get needs root, or sudo without a password';
  const options = ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', '--no-install-recommends'];
  const [first = aptGet, ...rest] = [...prefix, aptGet];
  /** @type {(...args: string[]) => [file: string, ...args: string[]]} */
  const asRoot = (...args) => [first, ...rest, ...args];
  const install = asRoot('install', ...options, ...packages);
  // Lists may be missing (containers) or old. Refreshing them first takes seconds.
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
 * Installs the pinned Ansible unless it is installed. Resolves to the reason of a failure, or null.
 *
 * @param {string} environment
 * @param {string} log
 */
async function installAnsible(environment, log) {
  const python = (await newestPython()) ?? (await installVirtualEnvironments(log));
  if (!python)
    return 'no Python from 3.11 to 3.14 below /usr or /opt can create virtual environments';
  const { program, packages } = python;
  const stamp = stampOf(environment);
  // Includes the folder, which the programs contain: a restored copy can be in another folder.
  const wanted = `# ${environment}\n${readFileSync(packages, 'utf8')}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return null;
  /** @type {[string, ...string[]]} */
  const pip = [join(environment, 'bin', 'python3'), '-m', 'pip', 'install'];
  const flags = ['--disable-pip-version-check', '--quiet', '--retries', '0', '--timeout', '10'];
  const problem =
    (await attempt([program, '-m', 'venv', '--clear', environment], log)) ??
    (await attempt([...pip, ...flags, '--require-hashes', '-r', packages], log));
  if (!problem) writeFileSync(stamp, wanted);
  return problem;
}

async function newestPython() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  for (const [name = '', packages = ''] of PYTHONS) {
    for (const folder of folders) {
      const program = findProgram(name, folder);
      if (!program) continue;
      // The programs of a version manager for versions that are not selected only print an error.
      const { code, stdout } = await run(program, ['-c', INTERPRETER], { anyCode: true });
      if (code !== 0 || !VISIBLE_FOLDERS.test(stdout)) continue;
      return { program: stdout, packages: join(REQUIREMENTS, packages) };
    }
  }
  return null;
}

/**
 * Installs the parts of Debian's Python that virtual environments need.
 *
 * @param {string} log
 */
async function installVirtualEnvironments(log) {
  if (!PYTHONS.some(([name = '']) => findProgram(name, '/usr/bin'))) return null;
  await installWithApt(['python3-venv'], log);
  return newestPython();
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
