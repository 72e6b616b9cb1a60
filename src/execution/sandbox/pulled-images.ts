import { lstat, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { localImage, removeImage, type LocalImage } from './container-engine.js';
import type { ContainerPlan } from './container.js';
import { ignoreMissing } from '../runner/workspace.js';

type Engine = Pick<ContainerPlan, 'engine' | 'isPodman'>;

/**
 * Images that workers of this machine have pulled. Each image has an empty file, whose modification time is
 * the time of the last use. Other images belong to the operator.
 */
export class PulledImages {
  private readonly root: string;

  /** @param retentionMs retention time of an unused image, in ms */
  constructor(
    dataDir: string,
    private readonly retentionMs: number,
  ) {
    this.root = resolve(dataDir, 'images');
  }

  async recordPull({ id }: LocalImage): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await writeFile(this.fileOf(id), '');
  }

  async recordUse({ id }: LocalImage): Promise<void> {
    const now = new Date();
    await utimes(this.fileOf(id), now, now).catch(ignoreMissing);
  }

  /** Removes images that were not used for the retention time, except images of containers. */
  async removeUnused(engine: Engine): Promise<void> {
    for (const id of await readdir(this.root)) {
      // Another run can have removed the file meanwhile.
      const stats = await lstat(this.fileOf(id)).catch(ignoreMissing);
      if (!stats || Date.now() - stats.mtimeMs < this.retentionMs) continue;
      await removeImage(engine, id);
      if ((await localImage(engine, id)) === null) await rm(this.fileOf(id), { force: true });
    }
  }

  private fileOf(id: string): string {
    return join(this.root, id.replace(/^sha256:/, ''));
  }
}
