import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Enclosure } from './command.js';
import { homeBinds } from './system-view.js';

/** The private folder of a run, outside and inside. */
interface RunSpace {
  readonly root: string;
  readonly dir: string;
  readonly inside: { readonly dir: string };
  readonly jobId: number;
}

/**
 * What a job sees: its private folder, and read-only the objects its checkout shares with the project.
 *
 * @param shared folders that stand inside where they are outside
 */
export async function runEnclosure(
  { root, dir, inside, jobId }: RunSpace,
  shared: readonly string[],
  hasNetwork: boolean,
): Promise<Enclosure> {
  // A folder that bubblewrap makes to mount something below it would not be the account's.
  await mkdir(join(dir, 'home', '.ansible'), { recursive: true, mode: 0o700 });
  const home = join(inside.dir, 'home');
  return {
    ...{ root, home, hasNetwork, name: `job-${jobId}` },
    binds: [
      { from: dir, to: inside.dir, isWritable: true },
      ...homeBinds(home),
      ...shared.map((from) => ({ from })),
    ],
  };
}
