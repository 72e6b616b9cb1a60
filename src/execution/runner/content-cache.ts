import { randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rename, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { removeDirectory } from './workspace.js';

/** Where content is made before it is content; what a dead worker left there is of no use to anybody. */
const BUILDING = '.building';

/**
 * Installed roles and collections by what they are made of (docs/decisions/0086-content-of-projects.md). An
 * entry is whole from the moment it has its name, and never changes afterwards.
 */
export class ContentCache {
  private readonly root: string;
  private readonly building: string;

  /** @param retentionMs how long an entry that nobody asks for is kept, in ms */
  constructor(
    dataDir: string,
    private readonly retentionMs: number,
  ) {
    this.root = resolve(dataDir, 'content');
    this.building = join(this.root, BUILDING);
  }

  /** The folder of an entry, which is in use from now on; null when there is none. */
  async find(digest: string): Promise<string | null> {
    const entry = join(this.root, digest);
    const now = new Date();
    return utimes(entry, now, now).then(
      () => entry,
      () => null,
    );
  }

  /**
   * Makes an entry, also in place of one that is there.
   *
   * @param build makes the content in a folder of its own below the one it is given, and tells which
   */
  async make(digest: string, build: (root: string) => Promise<string>): Promise<string> {
    const entry = join(this.root, digest);
    await mkdir(this.building, { recursive: true, mode: 0o700 });
    const root = await mkdtemp(join(this.building, `${digest}-`));
    try {
      const content = await build(root);
      await this.discard(entry);
      await rename(content, entry).catch(ignoreTaken);
    } finally {
      await removeDirectory(root);
    }
    await this.sweep();
    return (await this.find(digest)) ?? entry;
  }

  /** Removes what nobody has asked for in a long time: entries, old ones, and what was never finished. */
  private async sweep(): Promise<void> {
    for (const folder of [this.root, this.building]) {
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const { mtimeMs } = (await lstat(path).catch(() => null)) ?? { mtimeMs: Infinity };
        if (path === this.building || Date.now() - mtimeMs < this.retentionMs) continue;
        // Half of an entry must not be found under its name, whatever ends the removal.
        const gone = folder === this.root ? await this.discard(path) : path;
        await removeDirectory(gone);
      }
    }
  }

  /** Takes the name from an entry. Runs that use it keep it, so that it goes when nobody has for long. */
  private async discard(entry: string): Promise<string> {
    const old = join(this.building, `old-${randomUUID()}`);
    await rename(entry, old).catch(ignoreMissing);
    return old;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Somebody else was faster with the same. */
function ignoreTaken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}
