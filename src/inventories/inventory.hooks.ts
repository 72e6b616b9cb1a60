import { Injectable } from '@nestjs/common';
import { RoleStore, type Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { BadRequest, Invalid, MethodNotAllowed, Unavailable } from '../common/errors/errors.js';
import { Outbox } from '../common/queue/outbox.service.js';
import { decodedPart } from '../common/fields/text.js';
import { RedisConnection } from '../common/queue/redis-connection.service.js';
import { existing } from '../common/invariants.js';
import { rowChanges } from '../common/rest/changes.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { Database } from '../database/database.js';
import { sqlState } from '../database/sql-state.js';
import { HostLimit } from './host-limit.service.js';
import { hostNamesOf } from './hosts.repository.js';
import { InventoriesRepository, INVENTORY_CHANNEL } from './inventories.repository.js';
import { InventoryLock } from './inventory-lock.service.js';
import { MemberCounts } from './member-counts.service.js';
import { InventoryInputsRepository } from './inventory-inputs.repository.js';
import { ConstructedSources, InventoryTemplates } from './inventory-uses.js';
import type { Inventory } from './inventory.entity.js';

export const PENDING = 'Inventory is already pending deletion.';

/** Hooks of inventories (docs/contract/resources.md#inventories). */
@Injectable()
export class InventoryHooks implements ResourceHooks<Inventory> {
  constructor(
    private readonly inventories: InventoriesRepository,
    private readonly inputs: InventoryInputsRepository,
    private readonly templates: InventoryTemplates,
    private readonly sources: ConstructedSources,
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
    private readonly outbox: Outbox,
    private readonly activity: ActivityRecorder,
    private readonly references: ReferencesService,
    private readonly counts: MemberCounts,
    private readonly database: Database,
    private readonly redis: RedisConnection,
    private readonly roles: RoleStore,
  ) {}

  async prepareCreate(values: ValuesOf<Inventory>): Promise<Prepared<Inventory>> {
    if (values.kind === 'smart') {
      const filter = decodeFilter(values.host_filter);
      if (filter === null) throw Invalid.field('host_filter', NO_FILTER);
      await this.assertFilter(
        filter,
        existing(values.organization, 'a required reference is given'),
      );
      return { values: { host_filter: filter } };
    }
    return rejectFilter(values);
  }

  async created(
    { id, name, kind }: RowOf<Inventory>,
    _values: ValuesOf<Inventory>,
    actor: Actor,
  ): Promise<void> {
    if (kind === 'constructed') await this.sources.createFor({ id, name }, actor);
  }

  async prepareUpdate(
    row: RowOf<Inventory>,
    values: ValuesOf<Inventory>,
    actor: Actor,
  ): Promise<Prepared<Inventory>> {
    if (row.pending_deletion === true) throw new BadRequest(PENDING);
    if ('kind' in values && (values.kind || row.kind === '')) {
      throw new MethodNotAllowed(
        'PATCH',
        [],
        'You cannot turn a regular inventory into a "smart" or "constructed" inventory.',
      );
    }
    const { values: changed } =
      row.kind === 'smart' ? await this.changeFilter(row, values, actor) : rejectFilter(values);
    // Clients send an empty kind with every change.
    return { values: { ...changed, kind: undefined } };
  }

  /**
   * Applies a change of the filter. Ignores the empty filter that clients send with every change. All
   * readers of the inventory can see the result of the filter, so a new filter requires the permission
   * `filter` besides `change`.
   */
  private async changeFilter(
    row: RowOf<Inventory>,
    values: ValuesOf<Inventory>,
    actor: Actor,
  ): Promise<Prepared<Inventory>> {
    const filter = decodeFilter(values.host_filter) ?? row.host_filter;
    if (filter === row.host_filter || filter === null) {
      return { values: { host_filter: undefined } };
    }
    await this.references.assertAllowed(resource('inventory'), [row.id], 'filter', actor);
    await this.assertFilter(filter, row.organization_id);
    return { values: { host_filter: filter } };
  }

  /**
   * Executes a filter, because only the database detects some errors. A filter that cannot be executed
   * would break the lists of inventories.
   *
   * @throws Invalid, Forbidden for a filter that cannot select hosts
   */
  private async assertFilter(filter: string, organization: number): Promise<void> {
    try {
      await this.counts.of([
        { id: 0, kind: 'smart', organization_id: organization, host_filter: filter },
      ]);
    } catch (error) {
      if (error instanceof BadRequest) throw Invalid.field('host_filter', error.message);
      if (error instanceof Unavailable) throw Invalid.field('host_filter', TOO_SLOW);
      if (sqlState(error) === BAD_PATTERN) throw Invalid.field('host_filter', badPattern(filter));
      throw error;
    }
  }

  /** Checks the host limit of a new organization, and moves the sources to it. */
  async updated(
    before: RowOf<Inventory>,
    { id, organization_id: organization }: RowOf<Inventory>,
  ): Promise<void> {
    if (organization === before.organization_id) return;
    await this.templates.moveSources(id, organization);
    await this.limit.assertWithinLimit(id, {
      names: hostNamesOf(id),
      // The hosts already count in the inventory's new organization.
      count: 0,
      except: { inventory: id },
    });
  }

  /**
   * Marks the inventory for deletion. A queue deletes the rows, which can be a million. An inventory
   * that is marked is not listed, referenced or used by runs.
   */
  async prepareDelete(row: RowOf<Inventory>): Promise<boolean> {
    if (row.pending_deletion === true) throw new BadRequest(PENDING);
    await this.inventory.assertIdle(row.id);
    await this.inventories.markForDeletion(row.id);
    const templates = await this.templates.removeInventory(row.id);
    await this.inputs.delete({ input_id: row.id });
    await this.outbox.add('deletions', [row.id]);
    await this.roles.parentChanged(resource('job_template'), templates);
    this.database.afterCommit(() => this.redis.announce(INVENTORY_CHANNEL, [row.id]));
    const definition = resource('inventory');
    const coalesced = { hosts_deleted: row.total_hosts, groups_deleted: row.total_groups };
    this.activity.record({
      operation: 'delete',
      object1: refOf(definition, row),
      changes: { ...rowChanges(definition, row), coalesced_data: coalesced },
    });
    return true;
  }
}

const TOO_SLOW = 'The filter takes too long. Use fewer conditions, or other fields.';
/** SQLSTATE of an invalid regular expression. */
const BAD_PATTERN = '2201B';
const badPattern = (filter: string): string =>
  `Invalid query ${filter}: The regular expression is not valid.`;
const NO_FILTER = 'Smart inventories must specify host_filter';

/** Decodes a filter, because some clients send URL-encoded filters; returns null for an empty filter. */
function decodeFilter(sent: unknown): string | null {
  if (typeof sent !== 'string' || sent.trim() === '') return null;
  return decodedPart(sent);
}

/** Accepts the empty filter that clients send with every inventory, and rejects any other filter. */
function rejectFilter(values: ValuesOf<Inventory>): Prepared<Inventory> {
  if (!('host_filter' in values)) return {};
  if (decodeFilter(values.host_filter) !== null) {
    throw Invalid.field('host_filter', 'Only smart inventories have a host_filter.');
  }
  return { values: { host_filter: null } };
}
