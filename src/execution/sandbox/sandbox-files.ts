import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { filterFile, IDENTITY_FILES, INNER_ACCOUNT, type Plan } from './bubblewrap.js';
import type { Command, SandboxSpec } from './command.js';
import { environmentFile, environmentScript, type ContainerPlan } from './container.js';
import type { JobAccount } from './job-account.js';

const execute = promisify(execFile);

/** The parts of a sandbox configuration that determine which files are written for a command. */
type FileOptions = Pick<Plan | ContainerPlan, 'kind' | 'isRoot' | 'account' | 'filter'>;

/**
 * Writes the files that are specific to one command: its `/etc` files, its system call filter and, for
 * a container, its environment. If this process is root, makes the account of runs the owner of the writable
 * and private binds.
 */
export async function writeSandboxFiles(
  command: Command,
  spec: SandboxSpec,
  { kind, isRoot, account, filter }: FileOptions,
): Promise<void> {
  await writeIdentity(spec, account);
  if (filter) await writeFile(filterFile(spec), filter);
  const owned = spec.binds.filter(({ isWritable, isPrivate }) => isWritable || isPrivate);
  const paths = owned.map(({ from }) => from);
  if (kind === 'container') {
    const path = environmentFile(spec);
    await writeFile(path, environmentScript(command, spec), { mode: 0o600 });
    paths.push(path);
  }
  if (isRoot) await handOver(paths, account);
}

/**
 * Writes the `/etc` files of one command. ssh requires a passwd entry for its user id. Without an entry for
 * the host name in `hosts`, each look-up of the host name queries the network.
 */
async function writeIdentity(spec: SandboxSpec, { uid, gid }: JobAccount): Promise<void> {
  const { root, home, name } = spec;
  const machine = await readFile('/etc/hosts', 'utf8').catch(() => '127.0.0.1 localhost\n');
  const files: Record<(typeof IDENTITY_FILES)[number], readonly string[]> = {
    passwd: [
      'root:x:0:0:root:/:/bin/sh',
      `${INNER_ACCOUNT}:x:${uid}:${gid}::${home}:/bin/sh`,
      ...(uid === 65534 ? [] : ['nobody:x:65534:65534:nobody:/:/bin/false']),
    ],
    group: [
      'root:x:0:',
      `${INNER_ACCOUNT}:x:${gid}:`,
      ...(gid === 65534 ? [] : ['nogroup:x:65534:']),
    ],
    hosts: [machine.trimEnd(), `127.0.1.1 ${name}`],
  };
  await Promise.all(
    Object.entries(files).map(([file, lines]) =>
      // An explicit mode, independent of the umask: inside the sandbox, an account that does not own
      // these files reads the files.
      writeFile(join(root, file), `${lines.join('\n')}\n`, { mode: 0o644 }),
    ),
  );
}

/**
 * Changes the owner of folders to the account of a command; links are not followed. Files that
 * already belong to the account are skipped: git re-reads every file whose inode changed.
 */
async function handOver(folders: readonly string[], { uid, gid }: JobAccount): Promise<void> {
  const others = ['(', '!', '-user', String(uid), '-o', '!', '-group', String(gid), ')'];
  const change = ['-exec', 'chown', '-h', `${uid}:${gid}`, '{}', '+'];
  await execute('find', [...folders, ...others, ...change]);
}
