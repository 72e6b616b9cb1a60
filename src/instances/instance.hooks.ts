import { Injectable } from '@nestjs/common';
import type { ResourceHooks } from '../common/rest/hooks.js';
import { GroupMembers } from './group-members.service.js';
import type { Instance } from './instance.entity.js';

/** Hooks of instances (docs/contract/resources.md#instances). */
@Injectable()
export class InstanceHooks implements ResourceHooks<Instance> {
  constructor(private readonly members: GroupMembers) {}

  async updated(): Promise<void> {
    await this.members.changed();
  }
}
