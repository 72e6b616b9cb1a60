import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { CopyController } from '../common/rest/copy.controller.js';
import type { Values } from '../common/rest/hooks.js';
import { Resource } from '../common/rest/resource.controller.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { HostLimit } from './host-limit.service.js';
import { HostsRepository, hostNamesOf } from './hosts.repository.js';
import { inventories } from './inventories.resource.js';
import { InventoriesRepository } from './inventories.repository.js';
import { InventoryInputsRepository } from './inventory-inputs.repository.js';
import { ConstructedSources } from './inventory-uses.js';
import type { Inventory } from './inventory.entity.js';
import { PENDING } from './inventory.hooks.js';

type InventoryRow = RowOf<Inventory>;

/**
 * Copies an inventory with its instance groups, and with its members or, if it is a constructed inventory,
 * with its inputs.
 */
@Resource(inventories, 'api/v2/inventories/:id/copy')
export class InventoryCopyController extends CopyController<Inventory> {
  constructor(
    private readonly rows: InventoriesRepository,
    private readonly limit: HostLimit,
    private readonly hosts: HostsRepository,
    private readonly groups: GroupsRepository,
    private readonly groupHosts: GroupHostsRepository,
    private readonly groupChildren: GroupChildrenRepository,
    private readonly inputs: InventoryInputsRepository,
    private readonly sources: ConstructedSources,
  ) {
    super();
  }

  /** Encodes the filter, because a creation decodes it once. */
  protected override async replacedValues({ host_filter }: InventoryRow): Promise<Values> {
    return { host_filter: host_filter?.replaceAll('%', '%25') ?? null };
  }

  protected override async copyParts(
    original: InventoryRow,
    copy: InventoryRow,
    actor: Actor,
  ): Promise<void> {
    // Hosts and groups do not change between the statements that copy them.
    const [locked] = await this.rows.lock([original.id]);
    if (locked?.pending_deletion) throw new BadRequest(PENDING);
    await this.rows.copyInstanceGroups(original.id, copy.id, actor);
    await (original.kind === 'constructed'
      ? this.copyInputs(original, copy, actor)
      : this.copyMembers(original, copy, actor));
  }

  /**
   * Copies hosts, groups and memberships. Names are unique within an inventory, so they identify the
   * copies.
   */
  private async copyMembers(
    original: InventoryRow,
    copy: InventoryRow,
    actor: Actor,
  ): Promise<void> {
    await this.limit.assertWithinLimit(copy.id, {
      names: hostNamesOf(original.id),
      count: original.total_hosts,
    });
    await this.hosts.copy(original.id, copy.id, actor.id);
    await this.groups.copy(original.id, copy.id, actor.id);
    await this.groupHosts.copy(original.id, copy.id);
    await this.groupChildren.copy(original.id, copy.id);
  }

  /**
   * Copies the inputs of a constructed inventory. Its hosts and groups are created by the first update of
   * the copy.
   */
  private async copyInputs(
    original: InventoryRow,
    copy: InventoryRow,
    actor: Actor,
  ): Promise<void> {
    const ids = (await this.inputs.of(original.id)).map(({ id }) => id);
    await this.services.references.assertAllowed(inventories, ids, 'use', actor);
    await this.inputs.copy(original.id, copy.id, actor.id);
    await this.sources.copyOptions(original.id, copy.id);
  }
}
