import { Injectable } from '@nestjs/common';
import type { ResourceHooks } from '../common/resource/hooks.js';

@Injectable()
export class ProjectUpdateHooks implements ResourceHooks {
  async prepareDelete(): Promise<void> {}
}
