import { Injectable } from '@nestjs/common';
import { Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { GroupMembers } from './group-members.service.js';
import type { Instance } from './instance.entity.js';

/** Hooks of instances (docs/contract/resources.md#instances). */
@Injectable()
export class InstanceHooks implements ResourceHooks<Instance> {
  constructor(private readonly members: GroupMembers) {}

  async prepareUpdate(_row: RowOf<Instance>, sent: ValuesOf<Instance>): Promise<void> {
    const adjustment = Number(sent.capacity_adjustment ?? 1);
    const fault =
      adjustment < 0
        ? 'Ensure this value is greater than or equal to 0.'
        : adjustment >= 1000
          ? 'Ensure that there are no more than 5 digits in total.'
          : Number(adjustment.toFixed(2)) !== adjustment
            ? 'Ensure that there are no more than 2 decimal places.'
            : null;
    if (fault !== null) throw Invalid.field('capacity_adjustment', fault);
  }

  async updated(): Promise<void> {
    await this.members.changed();
  }
}
