import type { MigrationInterface, QueryRunner } from 'typeorm';

/** References of runs that are mostly null. */
const RARE = ['source_project_id', 'source_project_update_id', 'webhook_delivery_id'];

/**
 * Adds the indexes that find the pending runs with work for the scheduler. Restricts three others to the
 * few runs that have the reference, so that starting a run writes less.
 */
export class IndexPendingRuns1795808955127 implements MigrationInterface {
  name = 'IndexPendingRuns1795808955127';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "unified_jobs_dependent_idx" ON "unified_jobs"  ("id") WHERE ((status = 'pending'::text) AND ((depends_on)::text <> '[]'::text))`,
    );
    await runner.query(
      `CREATE INDEX "unified_jobs_unsettled_idx" ON "unified_jobs"  ("id") WHERE ((status = 'pending'::text) AND (NOT dependencies_processed) AND (type = ANY (ARRAY['job'::text, 'inventory_update'::text])))`,
    );
    for (const column of RARE) await replace(runner, column, `WHERE (${column} IS NOT NULL)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of RARE) await replace(runner, column, '');
    await runner.query(`DROP INDEX "public"."unified_jobs_unsettled_idx"`);
    await runner.query(`DROP INDEX "public"."unified_jobs_dependent_idx"`);
  }
}

async function replace(runner: QueryRunner, column: string, where: string): Promise<void> {
  const name = `unified_jobs_${column}_idx`;
  await runner.query(`DROP INDEX "public"."${name}"`);
  await runner.query(`CREATE INDEX "${name}" ON "unified_jobs" ("${column}") ${where}`);
}
