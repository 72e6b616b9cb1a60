import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Deletes sources with their inventory, also when its organization is deleted. The foreign key sets the
 * column to null, because job templates share it and outlive their inventory.
 */
export class RemoveSourcesWithInventories1795490000000 implements MigrationInterface {
  name = 'RemoveSourcesWithInventories1795490000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM unified_job_templates WHERE type = 'inventory_source' AND inventory_id IS NULL`);
    await runner.query(`
      CREATE FUNCTION remove_inventory_sources() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM unified_job_templates
        WHERE inventory_id = OLD.id AND type = 'inventory_source';
        RETURN OLD;
      END $$`);
    // A trigger before the deletion, because foreign key actions run before other triggers after it.
    await runner.query(`CREATE TRIGGER inventories_remove_sources BEFORE DELETE ON inventories
      FOR EACH ROW EXECUTE FUNCTION remove_inventory_sources()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER inventories_remove_sources ON inventories');
    await runner.query('DROP FUNCTION remove_inventory_sources()');
  }
}
