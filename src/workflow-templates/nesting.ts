import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

/** Of all users of advisory locks in this database, whoever nests a workflow in another. */
const NESTING_LOCK = 7_302;

/** Keeps workflows from containing themselves, at any depth. */
@Injectable()
export class Nesting {
  constructor(private readonly database: Database) {}

  /**
   * Whether a workflow would contain itself if it had a node that runs `innerId`. Until the end of
   * the transaction nobody else nests anything: two requests must not close a circle together.
   */
  async wouldRecur(outerId: number, innerId: number): Promise<boolean> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${NESTING_LOCK})`);
    const found = existing(
      await this.database.row<{ recurs: boolean }>(sql`
      WITH RECURSIVE inside (id) AS (
        SELECT ${innerId}::int
        UNION
        SELECT tpl.id FROM inside
        JOIN workflow_job_template_nodes node ON node.workflow_job_template_id = inside.id
        JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
          AND tpl.type = 'workflow_job_template'
      )
      SELECT EXISTS (SELECT 1 FROM inside WHERE id = ${outerId}) AS recurs`),
      'a SELECT without FROM has a row',
    );
    return found.recurs;
  }
}
