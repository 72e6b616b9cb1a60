import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { RunnerError } from '../runner/runner-error.js';

/** Where runs find and leave their files on this host. */
@Injectable()
export class RunFolders {
  /** Private folders of runs, one per attempt. */
  readonly workspaces: string;
  private readonly projects: string;

  constructor(settings: Settings) {
    this.workspaces = resolve(settings.DATA_DIR, 'workspaces');
    this.projects = resolve(settings.DATA_DIR, 'projects');
  }

  /**
   * The folder of a project.
   *
   * @param localPath a single name; the API lets nothing else be stored
   * @throws RunnerError for anything that would lead elsewhere
   */
  project(localPath: string): string {
    if (!/^[^/\\\0]+$/.test(localPath) || localPath === '.' || localPath === '..') {
      throw new RunnerError('The project has no usable folder name.');
    }
    return join(this.projects, localPath);
  }
}
