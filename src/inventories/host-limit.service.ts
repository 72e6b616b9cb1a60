import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { and, sql, TRUE, type Sql } from '../database/sql.js';

/** Hosts that an organization is about to have. */
export interface AddedHosts {
  /** Query for their `name`; names may repeat, and be those of hosts it has. */
  names: Sql;
  /** How many rows that query has at most. */
  most: number;
  /** Hosts of the organization that do not count, as a condition on `h` and its
   * inventory `inv`: those that change. */
  except?: Sql;
}

interface Limit {
  id: number;
  max_hosts: number;
}

/**
 * The most hosts an organization may have (`max_hosts`, 0: no limit). Hosts of one name are one host,
 * in however many inventories of the organization it stands.
 */
@Injectable()
export class HostLimit {
  constructor(private readonly database: Database) {}

  /**
   * Checks that further hosts of an inventory fit. The organization stays locked until the transaction
   * ends, so that two requests do not both take the last place.
   *
   * @throws Forbidden with the contract's text
   */
  async assertRoom(inventoryId: number, added: AddedHosts): Promise<void> {
    const limit = await this.database.row<Limit & Record<string, unknown>>(sql`
      SELECT org.id, org.max_hosts FROM organizations org
      JOIN inventories inv ON inv.organization_id = org.id
      WHERE inv.id = ${inventoryId} AND org.max_hosts > 0 FOR NO KEY UPDATE OF org`);
    if (!limit || (await this.fits(limit, added))) return;
    throw new Forbidden(
      `You have already reached the maximum number of ${limit.max_hosts} hosts allowed for your organization. Contact your System Administrator for assistance.`,
    );
  }

  /** Nobody is refused what adds no name, even where a limit was set below what there is. */
  private async fits({ id, max_hosts: max }: Limit, added: AddedHosts): Promise<boolean> {
    const { names, most, except = TRUE } = added;
    const rows = existing(
      await this.database.row<{ hosts: number }>(sql`
      SELECT COALESCE(sum(total_hosts), 0)::int AS hosts FROM inventories
      WHERE organization_id = ${id}`),
      'an aggregate has a row',
    );
    // There are no more names than rows, and those are counted already.
    if (rows.hosts + most <= max) return true;
    const counted = existing(
      await this.database.row<{ total: number; added: number }>(sql`
      SELECT count(*)::int AS total, (count(*) FILTER (WHERE is_new))::int AS added FROM (
        SELECT name, bool_and(is_new) AS is_new FROM (
          SELECT h.name, false AS is_new FROM hosts h
          JOIN inventories inv ON inv.id = h.inventory_id
          WHERE ${and(sql`inv.organization_id = ${id}`, except)}
          UNION ALL SELECT name, true FROM (${names}) given) every
        GROUP BY name) distinct_names`),
      'an aggregate has a row',
    );
    return counted.added === 0 || counted.total <= max;
  }
}
