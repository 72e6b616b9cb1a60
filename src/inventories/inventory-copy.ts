import type { CopyContext } from '../common/rest/copy.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { HostLimit } from './host-limit.service.js';
import { HostsRepository, hostNamesOf } from './hosts.repository.js';
import { InventoryInputsRepository } from './inventory-inputs.repository.js';
import { ConstructedSources } from './inventory-uses.js';
import type { InventorySchema } from './inventory.schema.js';

type Inventory = RowOf<InventorySchema>;

/** Copies the content of an inventory: its members, or its inputs. */
export const copyInventory = (
  original: Inventory,
  copy: Inventory,
  context: CopyContext,
): Promise<void> =>
  original.kind === 'constructed'
    ? copyInputs(original, copy, context)
    : copyMembers(original, copy, context);

/**
 * Copies hosts, groups and memberships. Names are unique within an inventory, so they identify the
 * copies.
 */
async function copyMembers(
  original: Inventory,
  copy: Inventory,
  { services, actor }: CopyContext,
): Promise<void> {
  await services.find(HostLimit).assertRoom(copy.id, {
    names: hostNamesOf(original.id),
    most: original.total_hosts,
  });
  await services.find(HostsRepository).copy(original.id, copy.id, actor.id);
  await services.find(GroupsRepository).copy(original.id, copy.id, actor.id);
  await services.find(GroupHostsRepository).copy(original.id, copy.id);
  await services.find(GroupChildrenRepository).copy(original.id, copy.id);
}

/**
 * Copies the inputs of a constructed inventory. Its hosts and groups are created by the first
 * update of the copy.
 */
async function copyInputs(
  original: Inventory,
  copy: Inventory,
  { services, actor }: CopyContext,
): Promise<void> {
  const inputs = services.find(InventoryInputsRepository);
  const ids = (await inputs.of(original.id)).map(({ id }) => id);
  await services.references.assertAllowed(resource('inventory'), ids, 'use', actor);
  await inputs.copy(original.id, copy.id, actor.id);
  await services.find(ConstructedSources).copyOptions(original.id, copy.id);
}
