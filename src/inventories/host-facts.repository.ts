import { Injectable } from '@nestjs/common';
import { exactJson } from '../common/exact-json.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { HostFacts } from './host.entity.js';

/** Facts of a host as JSON texts: `shared` by all projects, and `own` facts of one project. */
export interface FactsText {
  host_id: number;
  shared: string;
  own: string;
}

/** Returns the SQL condition that a host's facts contain the given facts. */
export const hasFacts = (alias: string, facts: object): Sql => sql`
  ${ident(alias, 'id')} IN (
    SELECT host_id FROM host_facts WHERE facts::jsonb @> ${exactJson(facts)}::jsonb
    UNION ALL
    SELECT host_id FROM host_project_facts WHERE facts::jsonb @> ${exactJson(facts)}::jsonb)`;

/** Facts that Ansible collected about hosts (docs/contract/resources.md#facts). */
@Injectable()
export class HostFactsRepository extends TableRepository<HostFacts> {
  constructor(@InjectRepository(HostFacts) repository: Repository<HostFacts>) {
    super(repository);
  }

  /** Returns the facts of a host, including the facts of all projects; empty without facts. */
  async of(hostId: number): Promise<Record<string, unknown>> {
    const rows = await this.database.rows<Pick<HostFacts, 'facts'> & Record<string, unknown>>(sql`
      (SELECT facts FROM host_facts WHERE host_id = ${hostId})
      UNION ALL
      (SELECT facts FROM host_project_facts WHERE host_id = ${hostId} ORDER BY project_id)`);
    const known: Record<string, unknown> = {};
    for (const { facts } of rows) Object.assign(known, facts);
    return known;
  }

  /**
   * Returns the facts of those hosts that have any.
   *
   * @param maxAge maximum age in seconds; 0: unlimited
   * @param projectId project whose facts are returned with the shared facts; null: all projects
   */
  fresh(
    hostIds: readonly number[],
    maxAge: number,
    projectId: number | null,
  ): Promise<FactsText[]> {
    return this.database.rows<FactsText & Record<string, unknown>>(sql`
      SELECT host.id AS host_id, coalesce(shared.facts, '{}')::text AS shared,
        coalesce(own.facts, '{}')::text AS own
      FROM hosts host LEFT JOIN host_facts shared ON shared.host_id = host.id
      LEFT JOIN LATERAL (
        SELECT json_object_agg(fact.key, fact.value ORDER BY kept.project_id) AS facts
        FROM host_project_facts kept, json_each(kept.facts) fact
        WHERE kept.host_id = host.id
          AND (${projectId}::int IS NULL OR kept.project_id = ${projectId}::int)) own ON true
      WHERE host.id = ANY(${hostIds}::int[])
        AND (shared.facts IS NOT NULL OR own.facts IS NOT NULL) AND (${maxAge}::int = 0
        OR host.ansible_facts_modified > now() - make_interval(secs => ${maxAge}::int))`);
  }

  /**
   * Replaces the facts of hosts. Skips deleted hosts. Locks rows in the order of ids, so that jobs of
   * one inventory cannot deadlock.
   *
   * @param lease query that returns a row while the run is allowed to write
   * @param projectId project of the `own` facts
   * @returns true if the lease is valid
   */
  async store(lease: Sql, projectId: number, facts: readonly FactsText[]): Promise<boolean> {
    const row = await this.database.row<{ is_held: boolean }>(sql`
      WITH lease AS (${lease}), locked AS (
        SELECT host.id, given.shared::json AS shared, given.own::json AS own
        FROM unnest(${facts.map(({ host_id: id }) => id)}::int[],
          ${facts.map(({ shared }) => shared)}::text[],
          ${facts.map(({ own }) => own)}::text[]) AS given (host_id, shared, own)
        JOIN hosts host ON host.id = given.host_id
        WHERE EXISTS (SELECT 1 FROM lease)
        ORDER BY host.id FOR NO KEY UPDATE OF host
      ), stored AS (
        INSERT INTO host_facts (host_id, facts) SELECT id, shared FROM locked
        ON CONFLICT (host_id) DO UPDATE SET facts = EXCLUDED.facts
      ), emptied AS (
        DELETE FROM host_project_facts kept USING locked
        WHERE kept.host_id = locked.id AND kept.project_id = ${projectId} AND locked.own::text = '{}'
      ), stored_own AS (
        INSERT INTO host_project_facts (host_id, project_id, facts)
        SELECT id, ${projectId}, own FROM locked WHERE own::text <> '{}'
        ON CONFLICT (host_id, project_id) DO UPDATE SET facts = EXCLUDED.facts
      ), dated AS (
        UPDATE hosts SET ansible_facts_modified = now() FROM locked WHERE hosts.id = locked.id)
      SELECT EXISTS (SELECT 1 FROM lease) AS is_held`);
    return row?.is_held === true;
  }
}
