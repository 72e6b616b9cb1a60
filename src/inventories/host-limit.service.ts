import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/errors/errors.js';
import { sql, type Sql } from '../database/sql.js';
import { HostsRepository, type UncountedHosts } from './hosts.repository.js';
import { InventoriesRepository, organizationOfInventory } from './inventories.repository.js';
import { OrganizationStore, type HostAllowance } from './organization-store.js';

/** Hosts that an organization is about to have. */
export interface AddedHosts {
  /** Query for their `name`; names may repeat, and be those of hosts it has. */
  names: Sql;
  /** How many rows that query has at most. */
  most: number;
  /** Hosts of the organization that do not count: those that change. */
  except?: UncountedHosts;
}

/**
 * The most hosts an organization may have (`max_hosts`, 0: no limit). Hosts of one name are one host,
 * in however many inventories of the organization it stands.
 */
@Injectable()
export class HostLimit {
  constructor(
    private readonly organizations: OrganizationStore,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
  ) {}

  /**
   * Checks that further hosts of an inventory fit. The organization stays locked until the transaction
   * ends, so that two requests do not both take the last place.
   *
   * @throws Forbidden with the contract's text
   */
  async assertRoom(inventoryId: number, added: AddedHosts): Promise<void> {
    const organization = organizationOfInventory(inventoryId);
    const limit = await this.organizations.lockAllowance(organization);
    if (!limit || (await this.fits(limit, added))) return;
    throw new Forbidden(
      `You have already reached the maximum number of ${limit.max_hosts} hosts allowed for your organization. Contact your System Administrator for assistance.`,
    );
  }

  /**
   * Locks the organization of an inventory until the transaction ends, if it has a limit: for whoever
   * looks at the end of it what has become of the hosts.
   */
  hold(inventoryId: number): Promise<HostAllowance | undefined> {
    return this.organizations.lockAllowance(organizationOfInventory(inventoryId));
  }

  /** Whether an organization has more hosts than it may. */
  async isExceeded({ id, max_hosts: max }: HostAllowance): Promise<boolean> {
    if ((await this.inventories.totalHosts(id)) <= max) return false;
    const none = sql`SELECT NULL::text AS name WHERE false`;
    return (await this.hosts.countNames(id, none, null)).total > max;
  }

  /** Nobody is refused what adds no name, even where a limit was set below what there is. */
  private async fits({ id, max_hosts: max }: HostAllowance, added: AddedHosts): Promise<boolean> {
    const { names, most, except = null } = added;
    // There are no more names than rows, and those are counted already.
    if ((await this.inventories.totalHosts(id)) + most <= max) return true;
    const counted = await this.hosts.countNames(id, names, except);
    return counted.added === 0 || counted.total <= max;
  }
}
