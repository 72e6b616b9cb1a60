import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMN = 'default_environment_id';
const TABLES = ['unified_job_templates', 'organizations'];

export class KeepDefaultEnvironments1795754893649 implements MigrationInterface {
  name = 'KeepDefaultEnvironments1795754893649';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}" ADD "${COLUMN}" integer`);
      await runner.query(`CREATE INDEX "${table}_${COLUMN}_idx" ON "${table}" ("${COLUMN}")
        WHERE (${COLUMN} IS NOT NULL)`);
      await runner.query(`ALTER TABLE "${table}" ADD CONSTRAINT "${table}_${COLUMN}_fkey"
        FOREIGN KEY ("${COLUMN}") REFERENCES "execution_environments"("id")
        ON DELETE SET NULL DEFERRABLE INITIALLY IMMEDIATE`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "${COLUMN}"`);
    }
  }
}
