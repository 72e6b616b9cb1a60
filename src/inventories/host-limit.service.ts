import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/errors/errors.js';
import { sql, type Sql } from '../database/sql.js';
import { HostsRepository, type UncountedHosts } from './hosts.repository.js';
import { InventoriesRepository, organizationOfInventory } from './inventories.repository.js';
import { OrganizationStore, type HostAllowance } from './organization-store.js';

/** Hosts that are about to be added to an organization. */
export interface AddedHosts {
  /** Query for their `name`; names can repeat, and can be names of existing hosts. */
  names: Sql;
  /** Maximum number of rows of that query. */
  count: number;
  /** Hosts of the organization that are not counted, because the request changes them. */
  except?: UncountedHosts;
}

/**
 * The maximum number of hosts of an organization (`max_hosts`, 0: no limit). Hosts with the same name
 * in several inventories of the organization count once.
 */
@Injectable()
export class HostLimit {
  constructor(
    private readonly organizations: OrganizationStore,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
  ) {}

  /**
   * Checks that further hosts of an inventory are within the limit. The organization stays locked
   * until the transaction ends, so that two requests cannot both add the last permitted host.
   *
   * @throws Forbidden with the contract's text
   */
  async assertWithinLimit(inventoryId: number, added: AddedHosts): Promise<void> {
    const organization = organizationOfInventory(inventoryId);
    const limit = await this.organizations.lockAllowance(organization);
    if (!limit || (await this.fits(limit, added))) return;
    throw new Forbidden(
      `You have already reached the maximum number of ${limit.max_hosts} hosts allowed for your organization. Contact your System Administrator for assistance.`,
    );
  }

  /**
   * Locks the organization of an inventory, if it has a limit, until the transaction ends, for
   * callers that check the limit at the end.
   */
  lockAllowance(inventoryId: number): Promise<HostAllowance | undefined> {
    return this.organizations.lockAllowance(organizationOfInventory(inventoryId));
  }

  /** Returns true if an organization exceeds its limit. */
  async isExceeded({ id, max_hosts: max }: HostAllowance): Promise<boolean> {
    if ((await this.inventories.totalHosts(id)) <= max) return false;
    const none = sql`SELECT NULL::text AS name WHERE false`;
    return (await this.hosts.countNames(id, none, null)).total > max;
  }

  /**
   * Returns true if the hosts fit. Hosts that add no name always fit, even if the limit is below
   * the current number.
   */
  private async fits({ id, max_hosts: max }: HostAllowance, added: AddedHosts): Promise<boolean> {
    const { names, count, except = null } = added;
    // Fast path: there are at most as many names as rows, and the number of rows is stored.
    if ((await this.inventories.totalHosts(id)) + count <= max) return true;
    const counted = await this.hosts.countNames(id, names, except);
    return counted.added === 0 || counted.total <= max;
  }
}
