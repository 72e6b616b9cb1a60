import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { dataFolder } from './connection.mjs';

const run = promisify(execFile);

/**
 * Creates a git repository in a temporary folder, with a first commit.
 *
 * @param files contents by name
 */
export async function createRepository(files) {
  const folder = await mkdtemp(join(tmpdir(), 'controller-demo-'));
  // The worker may run as another account, which must be able to read the folder.
  await chmod(folder, 0o755);
  const git = async (...args) => {
    const options = ['-C', folder, '-c', `safe.directory=${folder}`];
    return (await run('git', [...options, ...args])).stdout.trim();
  };
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Demo');
  await git('config', 'user.email', 'demo@example.com');
  const commit = async (changed, message) => {
    for (const [name, content] of Object.entries(changed)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
    await changeOwner(folder);
    return git('rev-parse', 'HEAD');
  };
  const first = await commit(files, 'Initial commit');
  return {
    url: `file://${folder}`,
    first,
    commit,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Makes the owner of the folder of projects the owner of the repository: a service of root fetches as this
 * account.
 */
async function changeOwner(folder) {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(join(dataFolder(), 'projects')).catch(() => null);
  if (owner) await run('chown', ['-R', `${owner.uid}:${owner.gid}`, folder]);
}
