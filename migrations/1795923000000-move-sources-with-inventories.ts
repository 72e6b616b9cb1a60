import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sets the organization of sources to that of their inventory; a move of the inventory did not change it. */
export class MoveSourcesWithInventories1795923000000 implements MigrationInterface {
  name = 'MoveSourcesWithInventories1795923000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE unified_job_templates source SET organization_id = inventory.organization_id
      FROM inventories inventory
      WHERE source.inventory_id = inventory.id AND source.type = 'inventory_source'
        AND source.organization_id IS DISTINCT FROM inventory.organization_id`);
  }

  async down(): Promise<void> {}
}
