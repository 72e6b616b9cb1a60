import type { Sql } from '../database/sql.js';

/** Maximum number of hosts of an organization. */
export interface HostAllowance {
  id: number;
  max_hosts: number;
}

/**
 * Organizations as inventories need them; implemented by the organizations module, a higher layer.
 */
export abstract class OrganizationStore {
  /**
   * Locks an organization, if it has a host limit, until the transaction ends.
   *
   * @param organization query for its id
   */
  abstract lockAllowance(organization: Sql): Promise<HostAllowance | undefined>;
}
