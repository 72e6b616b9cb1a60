import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sources go with their inventory, on whatever way that goes, also with its organization. The column
 * is shared with job templates, which outlive their inventory: its foreign key empties it.
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
    // Before: the actions of foreign keys come first among what happens after.
    await runner.query(`CREATE TRIGGER inventories_remove_sources BEFORE DELETE ON inventories
      FOR EACH ROW EXECUTE FUNCTION remove_inventory_sources()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER inventories_remove_sources ON inventories');
    await runner.query('DROP FUNCTION remove_inventory_sources()');
  }
}
