import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { shownPaths } from '../../config/job-settings.js';
import { settingFiles } from '../../config/setting.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { PACKAGE_FOLDER } from '../../config/version.js';
import type { Bind } from './command.js';

/** Folders that are links into `/usr` on merged systems, and real folders on others. */
const ROOT_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
/** Files of `/etc` that programs need; none of them lists accounts or contains keys. */
const CONFIGURATION = [
  'alternatives',
  'ansible',
  'ca-certificates.conf',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust',
  'crypto-policies',
  'ssh/ssh_config',
  'ssh/ssh_config.d',
  'ssh/ssh_known_hosts',
  'host.conf',
  'nsswitch.conf',
  'gai.conf',
  'resolv.conf',
  'services',
  'protocols',
  'localtime',
  'timezone',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'krb5.conf',
  'krb5.conf.d',
  'mime.types',
  'pip.conf',
  'gitattributes',
];
/** Size in bytes of an empty folder that hides another folder; it contains only mount points. */
const COVER_BYTES = '1048576';

/** Path inside the sandbox that an empty file or folder hides. */
export interface Cover {
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * Returns the paths of this machine that every command sees inside the sandbox, as bubblewrap
 * arguments.
 */
export async function systemArguments(settings: Settings, dataDir: string): Promise<string[]> {
  const hidden = await hiddenPaths(dataDir);
  const binds = [...(await systemBinds()), ...(await shownBinds(settings, hidden))];
  return [
    ...(await rootFolders()),
    ...bindArguments(...binds),
    ...(await coveredIn(binds, hidden)).flatMap(({ path, isFolder }) =>
      isFolder
        ? ['--size', COVER_BYTES, '--perms', '0755', '--tmpfs', path]
        : ['--ro-bind', '/dev/null', path],
    ),
    ...bindArguments(...(await ansibleEnvironment())),
  ];
}

/** Returns the paths that the operator makes visible to runs, and the hidden paths below them. */
export async function shownByOperator(
  settings: Settings,
  dataDir: string,
): Promise<{ shown: readonly Bind[]; covered: readonly Cover[] }> {
  const hidden = await hiddenPaths(dataDir);
  const shown = await shownBinds(settings, hidden);
  return { shown, covered: await coveredIn(shown, hidden) };
}

/** Returns a bind of the virtual environment that has the `ansible-runner` of the PATH. */
async function ansibleEnvironment(): Promise<Bind[]> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const runner = await lstat(join(folder, 'ansible-runner')).catch(() => null);
    if (runner === null) continue;
    const from = dirname(folder);
    const isEnvironment = await lstat(join(from, 'pyvenv.cfg')).catch(() => null);
    return isEnvironment ? [{ from }] : [];
  }
  return [];
}

/** Returns binds as bubblewrap arguments. */
export function bindArguments(...binds: readonly Bind[]): string[] {
  const parents = new Set(binds.flatMap(({ from, to = from }) => foldersAbove(to)));
  return [
    // Folders that bubblewrap creates implicitly are accessible to their owner only, so the parents
    // are created explicitly.
    ...[...parents].flatMap((folder) => ['--dir', folder]),
    ...binds.flatMap(({ from, to = from, isWritable, isOptional }) => [
      `--${isWritable ? '' : 'ro-'}bind${isOptional ? '-try' : ''}`,
      from,
      to,
    ]),
  ];
}

/** Returns the parent folders of a path: `/a` and `/a/b` for `/a/b/c`. */
function foldersAbove(path: string): string[] {
  const names = path.split(sep).slice(1, -1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

async function systemBinds(): Promise<Bind[]> {
  const configuration = await Promise.all(
    CONFIGURATION.map(async (name): Promise<Bind[]> => {
      const path = join('/etc', name);
      // Some paths are links to targets that are not visible inside.
      const from = await realpath(path).catch(() => null);
      return from === null ? [] : [{ from, to: path, isOptional: true }];
    }),
  );
  const folders = [{ from: '/usr' }, { from: '/opt', isOptional: true }];
  return [...folders, ...configuration.flat(), { from: '/sys', isOptional: true }];
}

async function rootFolders(): Promise<string[]> {
  const found = await Promise.all(
    ROOT_FOLDERS.map(async (name) => {
      const path = `/${name}`;
      const stats = await lstat(path).catch(() => null);
      if (stats?.isSymbolicLink()) return ['--symlink', await readlink(path), path];
      return stats ? ['--ro-bind', path, path] : [];
    }),
  );
  return found.flat();
}

/** Returns the paths that the operator makes visible. Skips links into hidden paths. */
async function shownBinds(settings: Settings, hidden: readonly string[]): Promise<Bind[]> {
  const binds = await Promise.all(
    shownPaths(settings.JOB_SHOW_PATHS).map(async ({ path, isWritable }): Promise<Bind[]> => {
      const from = await realpath(path).catch(() => null);
      if (from === null || hidden.some((entry) => `${from}/`.startsWith(`${entry}/`))) return [];
      return [{ from, to: path, isWritable, isOptional: true }];
    }),
  );
  return binds.flat();
}

/**
 * Returns binds of the roles and collections of the service's own account, below the command's home
 * directory.
 */
export function homeBinds(home: string): Bind[] {
  return ['roles', 'collections'].map((name) => ({
    from: join(homedir(), '.ansible', name),
    to: join(home, '.ansible', name),
    isOptional: true,
  }));
}

/** Returns the paths that stay hidden: the product, its data, and the files of its settings. */
async function hiddenPaths(dataDir: string): Promise<string[]> {
  const files = settingFiles(process.env, Object.keys(SETTINGS));
  const paths = [dataDir, PACKAGE_FOLDER, ...files];
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return [...new Set(real.filter((path) => path !== null))];
}

/** Returns covers for the hidden paths that a bind would make visible. */
async function coveredIn(binds: readonly Bind[], hidden: readonly string[]): Promise<Cover[]> {
  const covers = await Promise.all(
    hidden.map(async (path) => {
      const isFolder = (await lstat(path)).isDirectory();
      return binds
        .filter(({ from }) => path === from || path.startsWith(from + sep))
        .map(({ from, to = from }) => ({ path: to + path.slice(from.length), isFolder }));
    }),
  );
  return covers.flat();
}
