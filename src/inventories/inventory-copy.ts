import type { CopyContext } from '../common/rest/copy.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { HostLimit } from './host-limit.service.js';
import { HostsRepository, hostNamesOf } from './hosts.repository.js';
import type { InventorySchema } from './inventory.schema.js';

/** Copies hosts, groups and who is in what; names are unique in an inventory and tell them apart. */
export async function copyMembers(
  original: RowOf<InventorySchema>,
  copy: RowOf<InventorySchema>,
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
