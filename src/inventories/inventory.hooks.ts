import { Injectable } from '@nestjs/common';
import type { ResourceHooks } from '../common/resource/hooks.js';

@Injectable()
export class InventoryHooks implements ResourceHooks {
  async prepareDelete(): Promise<void> {}
}
