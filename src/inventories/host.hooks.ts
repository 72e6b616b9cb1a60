import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/errors/errors.js';
import { readVariables } from '../common/fields/variables.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { sql, type Sql } from '../database/sql.js';
import { HostLimit } from './host-limit.service.js';
import { splitHostName } from './host-name.js';
import { InventoryLock } from './inventory-lock.service.js';
import type { HostSchema } from './inventory.schema.js';
import { existing } from '../common/invariants.js';

/** Rules of hosts (docs/contract/resources.md#hosts). */
@Injectable()
export class HostHooks implements ResourceHooks<HostSchema> {
  constructor(
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
  ) {}

  async prepareCreate(values: ValuesOf<HostSchema>): Promise<void> {
    await takePort(values, String(values.variables ?? ''));
    const inventoryId = existing(values.inventory, 'a required reference is given');
    await this.limit.assertRoom(inventoryId, { names: oneName(values), most: 1 });
    await this.inventory.hold(inventoryId, 'host');
    await this.inventory.assertNameFree(inventoryId, String(values.name), 'host');
  }

  async prepareUpdate(row: RowOf<HostSchema>, values: ValuesOf<HostSchema>): Promise<void> {
    if ('inventory' in values) throw new Forbidden('Unable to change inventory on a host.');
    const inventoryId = row.inventory_id;
    if ('name' in values) {
      await takePort(values, String(values.variables ?? row.variables));
      const except = { host: row.id };
      await this.limit.assertRoom(inventoryId, { names: oneName(values), most: 1, except });
    }
    await this.inventory.hold(inventoryId, 'host');
    if (!('name' in values)) return;
    await this.inventory.assertNameFree(inventoryId, String(values.name), 'host');
  }

  async prepareDelete(row: RowOf<HostSchema>): Promise<void> {
    const inventoryId = row.inventory_id;
    await this.inventory.hold(inventoryId, 'host');
    await this.inventory.assertIdle(inventoryId);
  }
}

const oneName = ({ name }: ValuesOf<HostSchema>): Sql => sql`SELECT ${String(name)}::text AS name`;

/** Moves the port of `name:port` from the name into the variables, as JSON text. */
async function takePort(values: ValuesOf<HostSchema>, variables: string): Promise<void> {
  const { name, port } = splitHostName(String(values.name));
  if (port === null) return;
  values.name = name;
  const own = await readVariables(variables);
  values.variables = JSON.stringify({ ...own, ansible_ssh_port: port });
}
