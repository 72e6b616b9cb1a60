import type { Sql } from '../database/sql.js';

/** Maximum number of hosts of an organization. */
export interface HostAllowance {
  id: number;
  max_hosts: number;
}

/** Host limits of organizations; implemented by the feature `organizations`. */
export abstract class OrganizationStore {
  /**
   * Locks an organization, if it has a host limit, until the transaction ends.
   *
   * @param organization query for its id
   */
  abstract lockAllowance(organization: Sql): Promise<HostAllowance | undefined>;
}
