import { resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';

/** Where the runs of this host keep their private folders, one per attempt. */
@Injectable()
export class RunFolders {
  readonly workspaces: string;

  constructor(settings: Settings) {
    this.workspaces = resolve(settings.DATA_DIR, 'workspaces');
  }
}
