import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the facts of one project, separate from those of all projects (docs/decisions/0133-facts.md). */
export class KeepFactsOfProjects1795560000000 implements MigrationInterface {
  name = 'KeepFactsOfProjects1795560000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE "host_project_facts" (
      "host_id" integer NOT NULL, "project_id" integer NOT NULL, "facts" jsonb NOT NULL,
      CONSTRAINT "host_project_facts_pkey" PRIMARY KEY ("host_id", "project_id"))`);
    for (const [column, table] of [
      ['host_id', 'hosts'],
      ['project_id', 'unified_job_templates'],
    ]) {
      await runner.query(`ALTER TABLE "host_project_facts"
        ADD CONSTRAINT "host_project_facts_${column}_fkey" FOREIGN KEY ("${column}")
        REFERENCES "${table}" ("id") ON DELETE CASCADE ON UPDATE NO ACTION
        DEFERRABLE INITIALLY IMMEDIATE`);
    }
    await runner.query(
      `CREATE INDEX "host_project_facts_project_id_idx" ON "host_project_facts" ("project_id")`,
    );
    await runner.query(`CREATE INDEX "host_project_facts_facts_idx" ON "host_project_facts"
      USING gin ("facts" jsonb_path_ops)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "host_project_facts"`);
  }
}
