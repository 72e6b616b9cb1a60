import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxSpec } from './command.js';
import { homeBinds } from './system-view.js';

/** The private folder of a run, outside and inside. */
interface RunFolder {
  readonly root: string;
  readonly dir: string;
  readonly inside: { readonly dir: string };
  readonly jobId: number;
}

/**
 * Returns the sandbox contents of a job: its private folder, and, read-only, the roles and collections of the
 * service's own account and the folders that the job shares with other runs, such as git objects.
 *
 * @param shared folders that have the same path inside and outside
 */
export async function sandboxOfRun(
  { root, dir, inside, jobId }: RunFolder,
  shared: readonly string[],
  hasNetwork: boolean,
): Promise<SandboxSpec> {
  // Created here, because bubblewrap would create this mount point with the wrong owner.
  await mkdir(join(dir, 'home', '.ansible'), { recursive: true, mode: 0o700 });
  const home = join(inside.dir, 'home');
  return {
    root,
    home,
    hasNetwork,
    name: `job-${jobId}`,
    binds: [
      { from: dir, to: inside.dir, isWritable: true },
      ...homeBinds(home),
      ...shared.map((from) => ({ from })),
    ],
  };
}
