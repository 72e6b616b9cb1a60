import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { filterFile, IDENTITY_FILES, INNER_ACCOUNT } from './bubblewrap.js';
import type { Command, Enclosure } from './command.js';
import { environmentFile, environmentScript } from './container.js';
import type { Account } from './job-account.js';

const execute = promisify(execFile);

/** What of a boundary is written down for one command. */
interface Written {
  readonly kind: 'bubblewrap' | 'container';
  readonly isRoot: boolean;
  readonly account: Account;
  readonly filter: Buffer | null;
}

/**
 * Writes what is made for one command, its files of `/etc` and the filter of its system calls, and hands
 * the account of runs what it may use.
 */
export async function writeEnclosure(
  command: Command,
  enclosure: Enclosure,
  { kind, isRoot, account, filter }: Written,
): Promise<void> {
  await writeIdentity(enclosure, account);
  if (filter) await writeFile(filterFile(enclosure), filter);
  const own = enclosure.binds.filter(({ isWritable, isPrivate }) => isWritable || isPrivate);
  const paths = own.map(({ from }) => from);
  if (kind === 'container') {
    const path = environmentFile(enclosure);
    await writeFile(path, environmentScript(command, enclosure), { mode: 0o600 });
    paths.push(path);
  }
  if (isRoot) await handOver(paths, account);
}

/**
 * Writes the files of `/etc` that are made for one command. Without an entry for its own number ssh
 * does not run, and without its own host name every look-up of it asks the network.
 */
async function writeIdentity(enclosure: Enclosure, { uid, gid }: Account): Promise<void> {
  const { root, home, name } = enclosure;
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
      // Whatever the umask: inside, an account reads them that does not own them.
      writeFile(join(root, file), `${lines.join('\n')}\n`, { mode: 0o644 }),
    ),
  );
}

/**
 * Hands what a command may use to the account it runs under; links are not followed. What is the
 * account's already is left alone: to git, a file whose inode was touched is one to be read again.
 */
async function handOver(folders: readonly string[], { uid, gid }: Account): Promise<void> {
  const others = ['(', '!', '-user', String(uid), '-o', '!', '-group', String(gid), ')'];
  const change = ['-exec', 'chown', '-h', `${uid}:${gid}`, '{}', '+'];
  await execute('find', [...folders, ...others, ...change]);
}
