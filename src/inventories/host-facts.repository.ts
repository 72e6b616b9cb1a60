import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

export interface HostFactsRow {
  host_id: number;
  facts: Record<string, unknown>;
}

/** Facts of a host as JSON text. */
export interface FactsText {
  host_id: number;
  facts: string;
}

/** Whether the facts of a host contain others, as a condition on its row. */
export const hasFacts = (alias: string, facts: object): Sql => sql`
  ${ident(alias, 'id')} IN (
    SELECT host_id FROM host_facts WHERE facts @> ${JSON.stringify(facts)}::jsonb)`;

/** What Ansible found out about hosts (docs/contract/resources.md#facts). */
@Injectable()
export class HostFactsRepository extends TableRepository<HostFactsRow> {
  constructor(database: Database) {
    super(database, 'host_facts');
  }

  /** Facts of a host; empty where none are known. */
  async of(hostId: number): Promise<Record<string, unknown>> {
    const row = await this.database.row<HostFactsRow>(sql`
      SELECT facts FROM host_facts WHERE host_id = ${hostId}`);
    return row?.facts ?? {};
  }

  /** Facts of those of some hosts that have any. @param maxAge in seconds; 0: however old they are */
  fresh(hostIds: readonly number[], maxAge: number): Promise<FactsText[]> {
    return this.database.rows<FactsText & Record<string, unknown>>(sql`
      SELECT known.host_id, known.facts::text AS facts
      FROM host_facts known JOIN hosts host ON host.id = known.host_id
      WHERE known.host_id = ANY(${hostIds}::int[]) AND (${maxAge}::int = 0
        OR host.ansible_facts_modified > now() - make_interval(secs => ${maxAge}::int))`);
  }

  /**
   * Stores facts of hosts in the place of those there are; hosts that are gone meanwhile are left out.
   * They are locked in the order of ids: jobs of one inventory must not lock each other out.
   *
   * @param lease query that has a row as long as the run may write
   * @returns whether it has
   */
  async keep(lease: Sql, kept: readonly FactsText[]): Promise<boolean> {
    const row = await this.database.row<{ is_held: boolean }>(sql`
      WITH lease AS (${lease}), locked AS (
        SELECT host.id, given.facts::jsonb AS facts
        FROM unnest(${kept.map(({ host_id: id }) => id)}::int[],
          ${kept.map(({ facts }) => facts)}::text[]) AS given (host_id, facts)
        JOIN hosts host ON host.id = given.host_id
        WHERE EXISTS (SELECT 1 FROM lease)
        ORDER BY host.id FOR NO KEY UPDATE OF host
      ), stored AS (
        INSERT INTO host_facts (host_id, facts) SELECT id, facts FROM locked
        ON CONFLICT (host_id) DO UPDATE SET facts = EXCLUDED.facts
      ), dated AS (
        UPDATE hosts SET ansible_facts_modified = now() FROM locked WHERE hosts.id = locked.id)
      SELECT EXISTS (SELECT 1 FROM lease) AS is_held`);
    return row?.is_held === true;
  }
}
