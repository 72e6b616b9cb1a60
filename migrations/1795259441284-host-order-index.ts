import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HostOrderIndex1795259441284 implements MigrationInterface {
  name = 'HostOrderIndex1795259441284';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."hosts_name_order_idx"`);
    await runner.query(
      `CREATE INDEX "hosts_name_order_idx" ON "hosts"  ("name", "id", "inventory_id") `,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."hosts_name_order_idx"`);
    await runner.query(`CREATE INDEX "hosts_name_order_idx" ON "hosts" ("name", "id") `);
  }
}
