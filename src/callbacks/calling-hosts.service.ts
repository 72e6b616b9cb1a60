import { lookup, lookupService } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { readVariables } from '../common/fields/variables.js';
import { HostsRepository } from '../inventories/hosts.repository.js';
import { InventoriesRepository } from '../inventories/inventories.repository.js';
import { membersOf } from '../inventories/inventory-members.js';

/** Timeout of name resolution, in ms, so that a resolver cannot block the request. */
const MAX_WAIT_MS = 2000;
/** Variables with the address of a host, in order of precedence. */
const ADDRESS_KEYS = ['ansible_host', 'ansible_ssh_host'];

/** Finds the hosts that sent a request. */
@Injectable()
export class CallingHosts {
  constructor(
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
  ) {}

  /**
   * Finds the enabled hosts of an inventory with an address: by their address variable, or by their
   * name if they have no such variable.
   *
   * @returns the names of the hosts, in order
   */
  async find(inventoryId: number, address: string): Promise<string[]> {
    const inventory = await this.inventories.described(inventoryId);
    if (!inventory || isIP(address) === 0) return [];
    const names = new Set(await namesOf(address));
    const rows = await this.hosts.describedMentioning(membersOf(inventory, 't'), [...names]);
    const found: string[] = [];
    for (const { name, variables } of rows) {
      const values = await readVariables(variables);
      const host = ADDRESS_KEYS.map((key) => values[key]).find(
        (value) => typeof value === 'string',
      );
      if (names.has((host ?? name).toLowerCase())) found.push(name);
    }
    return found;
  }
}

/**
 * Returns an address and its host name. The name only counts if it resolves to the address, because
 * the owner of an address can choose any reverse name.
 */
async function namesOf(address: string): Promise<string[]> {
  const ip = ipOf(address);
  const name = await orNull(lookupService(ip, 0).then(({ hostname }) => hostname.toLowerCase()));
  if (name === null) return [ip];
  const addresses = (await orNull(lookup(name, { all: true }))) ?? [];
  return addresses.some((candidate) => ipOf(candidate.address) === ip) ? [ip, name] : [ip];
}

/** Converts an IPv4-mapped IPv6 address to its IPv4 address. */
const ipOf = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');

/** Returns the result of a promise; null after an error or the timeout. */
const orNull = <T>(work: Promise<T>): Promise<T | null> =>
  Promise.race([work.catch(() => null), sleep(MAX_WAIT_MS, null, { ref: false })]);
