import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'unified_jobs_text_idx';

/** Lets the search of runs use its index for playbooks, too (docs/contract/lists.md#search). */
export class SearchRunsByPlaybook1795920000000 implements MigrationInterface {
  name = 'SearchRunsByPlaybook1795920000000';

  up(runner: QueryRunner): Promise<void> {
    return index(runner, ['name', 'description', 'playbook']);
  }

  down(runner: QueryRunner): Promise<void> {
    return index(runner, ['name', 'description']);
  }
}

/** Replaces the index, where the database has one. */
async function index(runner: QueryRunner, columns: readonly string[]): Promise<void> {
  const known: unknown[] = await runner.query(
    `SELECT 1 FROM pg_class WHERE relname = '${INDEX}' AND relnamespace = current_schema()::regnamespace`,
  );
  if (known.length === 0) return;
  const parts = columns.map((column) => `"${column}" gin_trgm_ops`).join(', ');
  await runner.query(`DROP INDEX "${INDEX}"`);
  await runner.query(`CREATE INDEX "${INDEX}" ON "unified_jobs" USING gin (${parts})`);
}
