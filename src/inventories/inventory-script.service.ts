import { Injectable } from '@nestjs/common';
import { toBoolean } from '../common/fields/lenient-reader.js';
import { readAllVariables } from '../common/fields/variables.js';
import { markLong } from '../common/http/long-response.js';
import { BadRequest, NotFound } from '../common/errors/errors.js';
import { valuesOf, type QueryParameters } from '../common/list/query.js';
import type { Row } from '../common/resource/define-resource.js';
import {
  hostVariables,
  parseSubset,
  buildInventory,
  type InventoryOptions,
} from './ansible-inventory.js';
import { InventoryRows } from './inventory-rows.service.js';

/**
 * Provides the inventory document of Ansible (docs/contract/resources.md#inventory-script) from the rows
 * that `InventoryRows` reads.
 */
@Injectable()
export class InventoryScript {
  constructor(private readonly rows: InventoryRows) {}

  /**
   * @throws NotFound for an unknown `host`; VariablesError for variables that cannot be parsed; BadRequest for an
   *   invalid `subset`, or if the inventory is being deleted
   */
  async document(inventory: Row, query: QueryParameters): Promise<object> {
    const options = optionsOf(query);
    const [hostName] = valuesOf(query.host);
    if (hostName !== undefined) {
      const host = await this.rows.host(inventory.id, hostName);
      if (!host) throw new NotFound('No Host matches the given query.');
      return hostVariables(host, options, await readAllVariables([host.variables]));
    }
    const rows = await this.rows.load(inventory.id);
    if (!rows) throw new BadRequest('The inventory is being deleted.');
    return markLong(await buildInventory(rows, options));
  }
}

function optionsOf(query: QueryParameters): InventoryOptions {
  const isOn = (name: string): boolean => toBoolean(valuesOf(query[name]).at(-1)) === true;
  const [subset] = valuesOf(query.subset);
  const slice = subset === undefined ? undefined : parseSubset(subset);
  if (slice === null) throw new BadRequest('subset must be written like slice1of3.');
  return {
    hostvars: isOn('hostvars'),
    towervars: isOn('towervars'),
    all: isOn('all'),
    ...(slice ? { slice } : {}),
  };
}
