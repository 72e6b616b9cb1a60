import { Injectable } from '@nestjs/common';
import { jsonText } from '../common/fields/json-text.js';
import { mergeExact } from '../common/exact-json.js';
import { readVariables } from '../common/fields/variables.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, Values, ValuesOf } from '../common/rest/hooks.js';
import { sql, type Sql } from '../database/sql.js';
import { HostLimit } from './host-limit.service.js';
import { splitHostName } from './host-name.js';
import { InventoryLock } from './inventory-lock.service.js';
import type { Host } from './host.entity.js';
import { existing } from '../common/invariants.js';

/** Hooks of hosts (docs/contract/resources.md#hosts). */
@Injectable()
export class HostHooks implements ResourceHooks<Host> {
  constructor(
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
  ) {}

  /** Locks in the order of imports and bulk requests: organization (for a new name), inventory, hosts. */
  async lockParent(id: number, sent: Values): Promise<void> {
    const inventoryId = await this.inventory.inventoryOf(id, 'host');
    if (inventoryId === undefined) return;
    if ('name' in sent) await this.limit.lockAllowance(inventoryId);
    await this.inventory.lock(inventoryId, 'host');
  }

  async prepareCreate(sent: ValuesOf<Host>): Promise<Prepared<Host>> {
    const split = await withoutPort(sent, sent.variables ?? '');
    const values = { ...sent, ...split };
    const inventoryId = existing(values.inventory, 'a required reference is given');
    await this.limit.assertWithinLimit(inventoryId, { names: oneName(values), count: 1 });
    await this.inventory.lockForCreate(inventoryId, 'host');
    await this.inventory.assertNameFree(inventoryId, String(values.name), 'host');
    return { values: split };
  }

  async prepareUpdate(row: RowOf<Host>, sent: ValuesOf<Host>): Promise<Prepared<Host>> {
    const inventoryId = row.inventory_id;
    const split = 'name' in sent ? await withoutPort(sent, sent.variables ?? row.variables) : {};
    const values = { ...sent, ...split };
    if ('name' in values) {
      const except = { host: row.id };
      await this.limit.assertWithinLimit(inventoryId, { names: oneName(values), count: 1, except });
    }
    await this.inventory.lockForChange(inventoryId, 'host', 'Change');
    if ('name' in values) {
      await this.inventory.assertNameFree(inventoryId, String(values.name), 'host');
    }
    return { values: split };
  }

  async prepareDelete(row: RowOf<Host>): Promise<void> {
    const inventoryId = row.inventory_id;
    await this.inventory.lockForChange(inventoryId, 'host', 'Delete');
    await this.inventory.assertIdle(inventoryId);
  }
}

const oneName = ({ name }: ValuesOf<Host>): Sql => sql`SELECT ${String(name)}::text AS name`;

/** Moves the port of `name:port` from the name to the variables, as JSON text. */
async function withoutPort(sent: ValuesOf<Host>, variables: string): Promise<ValuesOf<Host>> {
  const { name, port } = splitHostName(String(sent.name));
  if (port === null) return {};
  const own = await readVariables(variables);
  return { name, variables: jsonText(mergeExact(own, { ansible_ssh_port: port })) };
}
