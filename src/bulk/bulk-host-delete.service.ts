import { Injectable } from '@nestjs/common';
import { type Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { settleAll } from '../database/settle-all.js';
import { Database } from '../database/database.js';
import {
  HostWritesRepository,
  type HostWithInventory,
} from '../inventories/host-writes.repository.js';
import {
  InventoriesRepository,
  type LockedInventory,
} from '../inventories/inventories.repository.js';
import { assertNotDeleting, InventoryLock } from '../inventories/inventory-lock.service.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import type { HostDeleteRequest } from './bulk-host.dto.js';
import { assertWithin } from './bulk-limits.js';

/** Deletes many hosts of one or more inventories, all or none. */
@Injectable()
export class BulkHostDelete {
  constructor(
    private readonly database: Database,
    private readonly hosts: HostWritesRepository,
    private readonly inventories: InventoriesRepository,
    private readonly settings: RuntimeSettings,
    private readonly inventoryLock: InventoryLock,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * @param dryRun true to report the effects of the request without applying them
   * @throws Invalid for hosts that do not exist or cannot be read (the same error), hosts of smart or
   *   constructed inventories, and too many hosts; Forbidden for inventories that the caller can only read;
   *   Conflict if an active job uses one of the inventories
   */
  async remove(
    { hosts: requestedIds }: HostDeleteRequest,
    actor: Actor,
    dryRun: boolean,
  ): Promise<object> {
    const ids = [...new Set(requestedIds)];
    const { BULK_HOST_MAX_DELETE: max } = await this.settings.get('BULK_HOST_MAX_DELETE');
    assertWithin('hosts', ids.length, 'BULK_HOST_MAX_DELETE', max);
    return this.database.transaction(async () => {
      // Both statements are sent in one batch. Imports lock an inventory before its hosts, too.
      const [inventories, hosts] = await settleAll([
        this.inventories.lockOfHosts(ids, actor),
        this.hosts.lockReadable(ids, actor),
      ]);
      assertDeletable(ids, hosts);
      assertNotDeleting(inventories, 'host');
      await this.inventoryLock.assertIdle(...inventories.map(({ id }) => id));
      if (!dryRun) {
        await this.database.prepareDeletion();
        await this.hosts.removeAll(ids);
        this.record(hosts, inventories);
      }
      return responseBody(hosts, dryRun);
    });
  }

  /** Records one entry per inventory. */
  private record(
    hosts: readonly HostWithInventory[],
    inventories: readonly LockedInventory[],
  ): void {
    for (const { id: inventoryId, total_hosts: countBefore } of inventories) {
      const inventoryHosts = hosts.filter((host) => host.inventory_id === inventoryId);
      const { inventory_name, organization_id } = itemAt(inventoryHosts, 0);
      this.activity.record({
        operation: 'update',
        object1: {
          type: 'inventory',
          id: inventoryId,
          name: inventory_name,
          organizationId: organization_id,
        },
        changes: {
          total_hosts: [countBefore, countBefore - inventoryHosts.length],
          hosts_deleted: inventoryHosts.map(({ id, name }) => ({ host_id: id, host_name: name })),
        },
      });
    }
  }
}

function assertDeletable(ids: readonly number[], hosts: readonly HostWithInventory[]): void {
  const found = new Set(hosts.map(({ id }) => id));
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) {
    const text = 'Hosts do not exist or you lack permission to delete it';
    throw new Invalid({ hosts: Object.fromEntries(missing.map((id) => [id, [text]])) });
  }
  const forbidden = hosts.filter((host) => !host.may_change).map((host) => host.inventory_name);
  if (forbidden.length > 0) {
    const names = [...new Set(forbidden)].join(', ');
    throw new Forbidden(`Lack permissions to delete hosts from this inventory: ${names}`);
  }
  if (hosts.some(({ kind }) => kind !== '')) {
    throw Invalid.all('Hosts can only be deleted from manual inventories.');
  }
}

function responseBody(hosts: readonly HostWithInventory[], dryRun: boolean): object {
  const results = hosts.map(({ id, name }): [id: number, text: string] => [
    id,
    dryRun ? `The host ${name} would be deleted` : `The host ${name} was deleted`,
  ]);
  const body = { deleted: hosts.length, hosts: Object.fromEntries(results) };
  return dryRun ? { dry_run: true, ...body } : body;
}
