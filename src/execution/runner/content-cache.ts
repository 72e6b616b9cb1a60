import { randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rename, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ignoreMissing, removeDirectory } from './workspace.js';

/**
 * Folder in which content is built before it is published. Files of dead workers in the folder are unused.
 */
const BUILDING = '.building';

/**
 * Cache of installed roles and collections, keyed by a digest of their requirements
 * (docs/decisions/0086-project-content.md). An entry with its final name is complete and never changes.
 */
export class ContentCache {
  private readonly root: string;
  private readonly building: string;

  /** @param retentionMs retention time of an unused entry, in ms */
  constructor(
    dataDir: string,
    private readonly retentionMs: number,
  ) {
    this.root = resolve(dataDir, 'content');
    this.building = join(this.root, BUILDING);
  }

  /** Returns the folder of an entry and marks the entry as used; null if the entry is missing. */
  async find(digest: string): Promise<string | null> {
    const entry = join(this.root, digest);
    const now = new Date();
    return utimes(entry, now, now).then(
      () => entry,
      () => null,
    );
  }

  /**
   * Creates or replaces an entry.
   *
   * @param build creates the content in a new folder below `root`, and returns the new folder
   */
  async create(digest: string, build: (root: string) => Promise<string>): Promise<string> {
    const entry = join(this.root, digest);
    await mkdir(this.building, { recursive: true, mode: 0o700 });
    const root = await mkdtemp(join(this.building, `${digest}-`));
    try {
      const content = await build(root);
      await this.discard(entry);
      await rename(content, entry).catch(ignoreExisting);
    } finally {
      await removeDirectory(root);
    }
    await this.sweep();
    return (await this.find(digest)) ?? entry;
  }

  /**
   * Removes entries, discarded entries and unfinished builds that were not used for the retention time.
   */
  private async sweep(): Promise<void> {
    for (const folder of [this.root, this.building]) {
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const { mtimeMs } = (await lstat(path).catch(() => null)) ?? { mtimeMs: Infinity };
        if (path === this.building || Date.now() - mtimeMs < this.retentionMs) continue;
        // The entry is renamed first, so that a half-removed entry is never found under its name.
        const discarded = folder === this.root ? await this.discard(path) : path;
        await removeDirectory(discarded);
      }
    }
  }

  /**
   * Renames an entry so that it is no longer found. Runs can keep using it; a later sweep removes
   * it after the retention time.
   */
  private async discard(entry: string): Promise<string> {
    const old = join(this.building, `old-${randomUUID()}`);
    await rename(entry, old).catch(ignoreMissing);
    return old;
  }
}

/** Ignores the error of a rename if another worker created the same entry first. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}
