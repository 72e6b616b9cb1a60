import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the parent of the object of an activity entry, and sets it for objects that exist. */
export class ParentsOfActivity1795290755453 implements MigrationInterface {
  name = 'ParentsOfActivity1795290755453';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "activity_stream" ADD "parent_type" text`);
    await runner.query(`ALTER TABLE "activity_stream" ADD "parent_id" integer`);
    await runner.query(
      `CREATE INDEX "activity_stream_parent_idx" ON "activity_stream"  ("parent_type", "parent_id") `,
    );
    await runner.query(`
      UPDATE activity_stream entry SET parent_type = known.parent_type, parent_id = known.parent_id
      FROM (
        SELECT 'host' AS type, id, 'inventory' AS parent_type, inventory_id AS parent_id FROM hosts
        UNION ALL SELECT 'group', id, 'inventory', inventory_id FROM groups
        UNION ALL SELECT 'o_auth2_access_token', id, 'user', user_id FROM tokens
        UNION ALL SELECT 'job', id, 'job_template', job_template_id FROM unified_jobs
          WHERE type = 'job' AND job_template_id IS NOT NULL
        UNION ALL SELECT 'project_update', id, 'project', project_id FROM unified_jobs
          WHERE type = 'project_update' AND project_id IS NOT NULL
        UNION ALL SELECT 'workflow_job', id, 'workflow_job_template', unified_job_template_id
          FROM unified_jobs WHERE type = 'workflow_job' AND unified_job_template_id IS NOT NULL
        UNION ALL SELECT 'workflow_job_template_node', id, 'workflow_job_template',
          workflow_job_template_id FROM workflow_job_template_nodes
      ) known
      WHERE entry.object1 = known.type AND entry.object1_id = known.id`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."activity_stream_parent_idx"`);
    await runner.query(`ALTER TABLE "activity_stream" DROP COLUMN "parent_id"`);
    await runner.query(`ALTER TABLE "activity_stream" DROP COLUMN "parent_type"`);
  }
}
