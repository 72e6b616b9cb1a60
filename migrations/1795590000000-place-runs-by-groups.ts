import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the preferred and the chosen instance group of runs, and the settings of instances
 * (docs/decisions/0014-queues-and-leases.md).
 */
export class PlaceRunsByGroups1795590000000 implements MigrationInterface {
  name = 'PlaceRunsByGroups1795590000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "outbox" ADD "machine" text`);
    await runner.query(`ALTER TABLE "instances" ADD "enabled" boolean NOT NULL DEFAULT true`);
    await runner.query(
      `ALTER TABLE "instances" ADD "managed_by_policy" boolean NOT NULL DEFAULT true`,
    );
    await runner.query(`ALTER TABLE "unified_jobs" ADD "preferred_groups" integer array`);
    await runner.query(`ALTER TABLE "unified_jobs" ADD "impact" integer NOT NULL DEFAULT 1`);
    await runner.query(`ALTER TABLE "unified_jobs" ADD "instance_group_id" integer`);
    await runner.query(
      `ALTER TABLE "unified_jobs" ADD CONSTRAINT "unified_jobs_instance_group_id_fkey"
        FOREIGN KEY ("instance_group_id") REFERENCES "instance_groups" ("id")
        ON DELETE SET NULL DEFERRABLE INITIALLY IMMEDIATE`,
    );
    await runner.query(
      `CREATE INDEX "unified_jobs_instance_group_idx" ON "unified_jobs" ("instance_group_id", "id")
        WHERE (instance_group_id IS NOT NULL)`,
    );
    // Policies now determine the members. Instances that were added manually go to the list of the policy.
    await runner.query(`
      UPDATE instance_groups g SET policy_instance_list = to_json(ARRAY(
        SELECT value FROM json_array_elements_text(g.policy_instance_list)
        UNION
        SELECT one.hostname FROM instance_group_instances link
        JOIN instances one ON one.id = link.instance_id WHERE link.instance_group_id = g.id))
      WHERE EXISTS (SELECT 1 FROM instance_group_instances WHERE instance_group_id = g.id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "instance_group_id"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "impact"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "preferred_groups"`);
    await runner.query(`ALTER TABLE "instances" DROP COLUMN "managed_by_policy"`);
    await runner.query(`ALTER TABLE "instances" DROP COLUMN "enabled"`);
    await runner.query(`ALTER TABLE "outbox" DROP COLUMN "machine"`);
  }
}
