import { readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { ActivityRepository } from '../activity/activity.repository.js';
import { Settings } from '../config/settings.js';
import { messageOf } from '../common/errors/errors.js';
import { slugOf } from '../common/fields/label.js';

/** The folders of projects below `DATA_DIR/projects`, in the file system of this process. */
@Injectable()
export class ProjectFolders {
  private readonly logger = new Logger('Projects');
  private readonly root: string;

  constructor(
    settings: Settings,
    private readonly activity: ActivityRepository,
  ) {
    this.root = resolve(settings.DATA_DIR, 'projects');
  }

  /** @throws Error for a text that is not the name of a folder directly below the root */
  path(localPath: string): string {
    if (!isFolderName(localPath)) throw new Error('The project has no usable folder name.');
    return join(this.root, localPath);
  }

  async exists(localPath: string): Promise<boolean> {
    if (!isFolderName(localPath)) return false;
    return stat(this.path(localPath)).then(
      (found) => found.isDirectory(),
      () => false,
    );
  }

  /** Removes the files of a deleted project. Errors are logged, and the remaining files stay. */
  async remove(localPath: string): Promise<void> {
    try {
      await rm(this.path(localPath), { recursive: true, force: true });
    } catch (error) {
      const reason = messageOf(error);
      this.logger.warn({ message: 'project folder not removed', folder: localPath, reason });
    }
  }

  /** Removes the folders of fetched projects that were deleted, on another machine too. */
  async removeDeleted(): Promise<void> {
    const names = await readdir(this.root).catch(() => []);
    const fetched = names.filter((name) => FETCHED.test(name));
    for (const folder of await this.activity.deletedProjectFolders(fetched)) {
      await this.remove(folder);
      this.logger.log({ message: 'folder of a deleted project removed', folder });
    }
  }
}

/** Returns true if a text is the name of a folder directly below the root of projects. */
export const isFolderName = (text: string): boolean =>
  /^[^/\\\0]+$/.test(text) && text !== '.' && text !== '..' && !text.startsWith('-');

const FETCHED = /^_\d+__[a-z0-9_]*$/;

/** Returns the folder name of a fetched project, which is unique because it contains the id. */
export const fetchedFolder = (id: number, name: string): string =>
  `_${id}__${slugOf(name, '_', 80)}`;
