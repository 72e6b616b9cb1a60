import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { invalidPk, validate } from '../common/fields/validate.js';
import { Conflict, Invalid, type FieldErrors } from '../common/http/errors.js';
import { Reply } from '../common/http/reply.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { HostLimit } from '../inventories/host-limit.js';
import { InventoryLock } from '../inventories/inventory-lock.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { HOST_CREATE_FIELDS } from './bulk-host.schema.js';
import { assertWithin, readEntries } from './entry-list.js';
import { readHostEntries, repeatedNames, type HostEntry } from './host-entries.js';

/** The inventory of a request as its caller finds it, and which of the names it already has. */
interface Target {
  id: number;
  name: string;
  kind: string;
  organization_id: number;
  may_change: boolean;
  taken_hosts: string[];
  taken_groups: string[];
}

const INVENTORY_FIELD = HOST_CREATE_FIELDS.filter(({ name }) => name === 'inventory');

/** Creates many hosts of one inventory at once: all or none, in a constant number of statements. */
@Injectable()
export class BulkHostCreate {
  constructor(
    private readonly database: Database,
    private readonly settings: RuntimeSettings,
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * @param dryRun only tells what would come of the request
   * @throws Invalid with every fault, those of entries by index; Forbidden beyond the limit of the
   *   organization; Conflict when another request took one of the names meanwhile
   */
  async create(body: Record<string, unknown>, actor: Actor, dryRun: boolean): Promise<Reply> {
    const { inventoryId, given } = readRequest(body);
    const { BULK_HOST_MAX_CREATE: most } = await this.settings.get('BULK_HOST_MAX_CREATE');
    assertWithin('hosts', given.length, 'BULK_HOST_MAX_CREATE', most);
    const { entries, errors } = readHostEntries(given);
    const target = await this.target(inventoryId, entries, actor);
    assertPossible(inventoryId, target, entries, errors);
    const ids = await this.database.transaction(async () => {
      await this.limit.assertRoom(inventoryId, entries.length);
      return dryRun ? null : this.write(target!, entries);
    });
    return answer(inventoryId, entries, ids);
  }

  private target(
    inventoryId: number,
    entries: readonly HostEntry[],
    actor: Actor,
  ): Promise<Target | undefined> {
    const names = entries.map(({ name }) => name);
    return this.database.row<Target>(sql`
      SELECT i.id, i.name, i.kind, i.organization_id,
        (${permit(resource('inventory').policy, 'change', 'i', actor)}) AS may_change,
        ARRAY(SELECT name FROM hosts WHERE inventory_id = i.id AND name = ANY(${names}::text[])
          ORDER BY id) AS taken_hosts,
        ARRAY(SELECT name FROM groups WHERE inventory_id = i.id AND name = ANY(${names}::text[])
          ORDER BY id) AS taken_groups
      FROM inventories i WHERE i.id = ${inventoryId}`);
  }

  /** @returns ids in the order of the entries */
  private async write(target: Target, entries: readonly HostEntry[]): Promise<number[]> {
    const held = await this.inventory.holdAll([target.id], 'host');
    const ids = await this.insert(target.id, entries);
    const lost = entries.filter(({ name }) => !ids.has(name)).map(({ name }) => name);
    if (lost.length > 0) {
      throw new Conflict(`Another request has just taken these names: ${lost.join(', ')}`);
    }
    const before = held.get(target.id) ?? 0;
    this.activity.record({
      operation: 'update',
      object1: {
        type: 'inventory',
        id: target.id,
        name: target.name,
        organizationId: target.organization_id,
      },
      changes: { total_hosts: [before, before + entries.length] },
    });
    return entries.map(({ name }) => ids.get(name)!);
  }

  /** Names that were taken since they were looked at are left out. @returns ids by name */
  private async insert(
    inventoryId: number,
    entries: readonly HostEntry[],
  ): Promise<Map<string, number>> {
    const rows = await this.database.rows<{ id: number; name: string }>(sql`
      INSERT INTO hosts (inventory_id, name, description, enabled, instance_id, variables)
      SELECT ${inventoryId}, host.name, host.description, host.enabled, host.instance_id,
        host.variables
      FROM unnest(${entries.map(({ name }) => name)}::text[],
          ${entries.map(({ description }) => description)}::text[],
          ${entries.map(({ enabled }) => enabled)}::boolean[],
          ${entries.map(({ instance_id: id }) => id)}::text[],
          ${entries.map(({ variables }) => variables)}::text[])
        WITH ORDINALITY AS host (name, description, enabled, instance_id, variables, place)
      WHERE NOT EXISTS (
        SELECT 1 FROM groups WHERE groups.inventory_id = ${inventoryId} AND groups.name = host.name)
      ORDER BY host.place
      ON CONFLICT DO NOTHING RETURNING id, name`);
    return new Map(rows.map(({ id, name }) => [name, id]));
  }
}

/** Faults of both fields come back together. */
function readRequest(body: Record<string, unknown>): { inventoryId: number; given: unknown[] } {
  const errors: FieldErrors = {};
  const collect = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      Object.assign(errors, error.errors);
      return undefined;
    }
  };
  const inventoryId = collect(() => validate(INVENTORY_FIELD, body).inventory as number);
  const given = collect(() => readEntries('hosts', body.hosts));
  if (inventoryId === undefined || given === undefined) throw new Invalid(errors);
  return { inventoryId, given };
}

/** An unknown inventory and one the caller may not change read alike (decision 6). */
function assertPossible(
  inventoryId: number,
  target: Target | undefined,
  entries: readonly HostEntry[],
  entryErrors: FieldErrors,
): void {
  const errors: FieldErrors = {};
  const faults: string[] = [];
  if (Object.keys(entryErrors).length > 0) errors.hosts = entryErrors;
  if (!target?.may_change) {
    errors.inventory = [invalidPk(inventoryId)];
    faults.push(`Inventory with id ${inventoryId} not found or lack permissions to add hosts.`);
  } else {
    if (target.kind !== '') {
      faults.push(
        'Hosts can only be created in manual inventories (not smart or constructed types).',
      );
    }
    faults.push(...nameFaults(target, entries));
  }
  if (faults.length > 0) errors.__all__ = faults;
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
}

function nameFaults(target: Target, entries: readonly HostEntry[]): string[] {
  const faults: string[] = [];
  const duplicates = new Set([...repeatedNames(entries), ...target.taken_hosts]);
  if (duplicates.size > 0) {
    const names = [...duplicates].join(', ');
    faults.push(`Hostnames must be unique in an inventory. Duplicates found: ${names}`);
  }
  if (target.taken_groups.length > 0) {
    const names = [...new Set(target.taken_groups)].join(', ');
    faults.push(`A Group with that name already exists. Duplicates found: ${names}`);
  }
  return faults;
}

function answer(inventoryId: number, entries: readonly HostEntry[], ids: number[] | null): Reply {
  const url = resource('inventory').url(inventoryId);
  const host = resource('host');
  const hosts = entries.map((entry, index) => {
    const id = ids?.[index] ?? null;
    return { id, ...entry, url: id === null ? null : host.url(id), inventory: inventoryId };
  });
  return ids === null
    ? new Reply(200, { dry_run: true, url, hosts })
    : Reply.created({ url, hosts });
}
