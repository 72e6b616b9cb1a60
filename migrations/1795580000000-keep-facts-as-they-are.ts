import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['host_facts', 'host_project_facts'];

/** Keeps the number format and key order of facts, as `json` (docs/decisions/0142-variables.md). */
export class KeepFactsAsTheyAre1795580000000 implements MigrationInterface {
  name = 'KeepFactsAsTheyAre1795580000000';

  async up(runner: QueryRunner): Promise<void> {
    await change(runner, 'json', '("facts"::jsonb)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await change(runner, 'jsonb', '"facts"');
  }
}

async function change(runner: QueryRunner, type: string, indexed: string): Promise<void> {
  for (const table of TABLES) {
    await runner.query(`DROP INDEX "${table}_facts_idx"`);
    await runner.query(
      `ALTER TABLE "${table}" ALTER COLUMN "facts" TYPE ${type} USING "facts"::${type}`,
    );
    await runner.query(
      `CREATE INDEX "${table}_facts_idx" ON "${table}" USING gin (${indexed} jsonb_path_ops)`,
    );
  }
}
