import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { freePort } from '../faults/support/processes.js';
import { eventually, type TestFolder } from './playbooks.js';

const execute = promisify(execFile);

/** Real sshd on the loopback address, whose only account is that of the tests. */
export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** Private key that the server accepts. */
  readonly key: string;
  /** Returns the log so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Path on Debian. Accounts without administration rights have no `sbin` on their PATH. */
const PROGRAM = '/usr/sbin/sshd';

export async function startSshServer({ dir }: TestFolder): Promise<SshServer> {
  const [hostKey, key] = [join(dir, 'sshd-host-key'), join(dir, 'sshd-user-key')];
  for (const path of [hostKey, key]) {
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
  }
  await copyFile(`${key}.pub`, join(dir, 'authorized_keys'));
  // Folder for the privilege separation of a server of root. Debian creates it when the service starts.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  const options = {
    ...{ ListenAddress: '127.0.0.1', HostKey: hostKey, PidFile: 'none', UsePAM: 'no' },
    ...{ AuthorizedKeysFile: join(dir, 'authorized_keys'), StrictModes: 'no' },
    ...{ PermitRootLogin: 'prohibit-password', PasswordAuthentication: 'no' },
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const args = ['-D', '-e', '-f', '/dev/null', '-p', String(port), ...settings];
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => output.includes('Server listening'));
  return {
    ...{ port, key, user: userInfo().username, log: () => output },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
