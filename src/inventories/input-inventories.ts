import { BadRequest } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { attached, type LinkContext, type SubListSpec } from '../common/rest/sublist.js';
import { InventoryInputsRepository } from './inventory-inputs.repository.js';

/**
 * Declares the sub-list `input_inventories/`: the inputs of a constructed inventory, in the order in
 * which they were attached (docs/contract/constructed-inventories.md#inputs). Attaching an input
 * again keeps its position and records the caller as the user who attached it.
 */
export const inputInventories =
  () =>
  (definition: ResourceDefinition, name: string): SubListSpec => {
    const spec = attached('input_inventories', {
      rules: InventoryInputsRepository,
      childNeeds: 'use',
      authorizeAttach: assertConstructed,
      check: assertInput,
    })(definition, name);
    return {
      ...spec,
      attach: async (context: LinkContext<Row, InventoryInputsRepository>, child) => {
        await spec.attach?.(context, child);
        const { rules: inputs, parent, actor } = context;
        await inputs.setAttachedBy(parent.id, child.id, actor.id);
      },
    };
  };

async function assertConstructed({ parent }: LinkContext): Promise<void> {
  if (parent.kind === 'constructed') return;
  throw new BadRequest('Only constructed inventories have input inventories.');
}

async function assertInput(context: LinkContext, child: Row): Promise<void> {
  await assertConstructed(context);
  if (child.kind === 'constructed') {
    throw new BadRequest(
      'You cannot add a constructed inventory to another constructed inventory.',
    );
  }
  if (child.pending_deletion === true) {
    throw new BadRequest('The inventory is already being deleted.');
  }
}
