import { Injectable } from '@nestjs/common';
import { Forbidden } from '../common/http/errors.js';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

/** The most hosts an organization may have (`max_hosts`, 0: no limit). */
@Injectable()
export class HostLimit {
  constructor(private readonly database: Database) {}

  /**
   * Checks that `added` further hosts fit. The organization stays locked until the transaction
   * ends, so that two requests do not both take the last place.
   *
   * @throws Forbidden with the contract's text
   */
  async assertRoom(inventoryId: number, added: number): Promise<void> {
    const limit = await this.database.row<{ id: number; max_hosts: number }>(sql`
      SELECT org.id, org.max_hosts FROM organizations org
      JOIN inventories inv ON inv.organization_id = org.id
      WHERE inv.id = ${inventoryId} AND org.max_hosts > 0 FOR NO KEY UPDATE OF org`);
    if (!limit) return;
    const used = existing(
      await this.database.row<{ hosts: number }>(sql`
      SELECT COALESCE(sum(total_hosts), 0)::int AS hosts FROM inventories
      WHERE organization_id = ${limit.id}`),
      'an aggregate has a row',
    );
    if (used.hosts + added <= limit.max_hosts) return;
    throw new Forbidden(
      `You have already reached the maximum number of ${limit.max_hosts} hosts allowed for your organization. Contact your System Administrator for assistance.`,
    );
  }
}
