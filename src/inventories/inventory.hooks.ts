import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { BadRequest, Invalid, MethodNotAllowed } from '../common/errors/errors.js';
import { Reply } from '../common/http/reply.js';
import { Outbox } from '../common/queue/outbox.service.js';
import { rowChanges } from '../common/rest/changes.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { resource } from '../common/resource/registry.js';
import { HostLimit } from './host-limit.service.js';
import { hostNamesOf } from './hosts.repository.js';
import { InventoriesRepository } from './inventories.repository.js';
import { InventoryLock } from './inventory-lock.service.js';
import { InventoryTemplates } from './inventory-uses.js';
import type { InventorySchema } from './inventory.schema.js';

const PENDING = 'Inventory is already pending deletion.';

/**
 * Rules of inventories (docs/contract/resources.md#inventories). Only inventories whose hosts are
 * entered can be made so far.
 */
@Injectable()
export class InventoryHooks implements ResourceHooks<InventorySchema> {
  constructor(
    private readonly inventories: InventoriesRepository,
    private readonly templates: InventoryTemplates,
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
    private readonly outbox: Outbox,
    private readonly activity: ActivityRecorder,
  ) {}

  async prepareCreate(values: ValuesOf<InventorySchema>): Promise<Prepared<InventorySchema>> {
    if (values.kind === 'smart' && isEmpty(values.host_filter)) {
      throw Invalid.field('host_filter', 'Smart inventories must specify host_filter');
    }
    if (values.kind !== '') {
      throw Invalid.field('kind', `Inventories of kind ${String(values.kind)} are not supported.`);
    }
    return takeNoFilter(values);
  }

  async prepareUpdate(
    row: RowOf<InventorySchema>,
    values: ValuesOf<InventorySchema>,
  ): Promise<Prepared<InventorySchema>> {
    if (row.pending_deletion === true) throw new BadRequest(PENDING);
    if ('kind' in values) {
      throw new MethodNotAllowed(
        'PATCH',
        [],
        'You cannot turn a regular inventory into a "smart" or "constructed" inventory.',
      );
    }
    return takeNoFilter(values);
  }

  /** Its hosts have to fit into the organization it moved to. */
  async updated(
    before: RowOf<InventorySchema>,
    { id, organization_id: organization }: RowOf<InventorySchema>,
  ): Promise<void> {
    if (organization === before.organization_id) return;
    await this.limit.assertRoom(id, {
      names: hostNamesOf(id),
      // They are among its rows already.
      most: 0,
      except: { inventory: id },
    });
  }

  /**
   * Answers at once and leaves the rows to the queue: there may be a million. From here on nothing
   * lists, refers to or runs against the inventory.
   */
  async prepareDelete(row: RowOf<InventorySchema>): Promise<Reply> {
    if (row.pending_deletion === true) throw new BadRequest(PENDING);
    await this.inventory.assertIdle(row.id);
    await this.inventories.markForDeletion(row.id);
    await this.templates.forgetInventory(row.id);
    await this.outbox.add('deletions', [row.id]);
    const definition = resource('inventory');
    const coalesced = { hosts_deleted: row.total_hosts, groups_deleted: row.total_groups };
    this.activity.record({
      operation: 'delete',
      object1: refOf(definition, row),
      changes: { ...rowChanges(definition, row), coalesced_data: coalesced },
    });
    return Reply.accepted();
  }
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Clients send an empty filter with every inventory; a real one has no effect here. */
function takeNoFilter(values: ValuesOf<InventorySchema>): Prepared<InventorySchema> {
  if (!('host_filter' in values)) return {};
  if (!isEmpty(values.host_filter)) {
    throw Invalid.field('host_filter', 'Only smart inventories have a host_filter.');
  }
  return { values: { host_filter: null } };
}
