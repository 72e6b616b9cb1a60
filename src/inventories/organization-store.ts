import type { Sql } from '../database/sql.js';

/** The most hosts an organization may have. */
export interface HostAllowance {
  id: number;
  max_hosts: number;
}

/** What inventories need of organizations, a room above. Implemented by the organizations module. */
export abstract class OrganizationStore {
  /**
   * Locks an organization until the transaction ends, if it has a limit of hosts.
   *
   * @param organization query for its id
   */
  abstract lockAllowance(organization: Sql): Promise<HostAllowance | undefined>;
}
