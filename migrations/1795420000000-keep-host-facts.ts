import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the facts of hosts, in a separate table that lists of hosts do not read. */
export class KeepHostFacts1795420000000 implements MigrationInterface {
  name = 'KeepHostFacts1795420000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "hosts" ADD "ansible_facts_modified" TIMESTAMP WITH TIME ZONE`);
    await runner.query(`CREATE TABLE "host_facts" (
      "host_id" integer NOT NULL, "facts" jsonb NOT NULL,
      CONSTRAINT "host_facts_pkey" PRIMARY KEY ("host_id"))`);
    await runner.query(`ALTER TABLE "host_facts" ADD CONSTRAINT "host_facts_host_id_fkey"
      FOREIGN KEY ("host_id") REFERENCES "hosts" ("id") ON DELETE CASCADE ON UPDATE NO ACTION
      DEFERRABLE INITIALLY IMMEDIATE`);
    await runner.query(
      `CREATE INDEX "host_facts_facts_idx" ON "host_facts" USING gin ("facts" jsonb_path_ops)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "host_facts"`);
    await runner.query(`ALTER TABLE "hosts" DROP COLUMN "ansible_facts_modified"`);
  }
}
