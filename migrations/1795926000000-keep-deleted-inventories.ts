import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows keep the id of a deleted inventory, so that no run falls back on another inventory. */
const TABLES = [
  'schedules',
  'workflow_job_template_nodes',
  'workflow_job_nodes',
  'unified_job_templates',
];

/** The trigger before the deletion of an inventory. */
const trigger = (further: string): string => `
  CREATE OR REPLACE FUNCTION remove_inventory_sources() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM unified_job_templates
    WHERE inventory_id = OLD.id AND type = 'inventory_source';
    ${further}
    RETURN OLD;
  END $$`;

/** Drops the foreign keys of inventories that launches were saved with. */
export class KeepDeletedInventories1795926000000 implements MigrationInterface {
  name = 'KeepDeletedInventories1795926000000';

  async up(runner: QueryRunner): Promise<void> {
    // Job templates have no inventory after its deletion, also when its organization is deleted.
    await runner.query(
      trigger(`UPDATE unified_job_templates SET inventory_id = NULL
    WHERE inventory_id = OLD.id AND type = 'job_template';`),
    );
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${table}_inventory_id_fkey"`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`
        UPDATE "${table}" SET inventory_id = NULL
        WHERE inventory_id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM inventories WHERE id = "${table}".inventory_id)`);
      await runner.query(`
        ALTER TABLE "${table}" ADD CONSTRAINT "${table}_inventory_id_fkey"
        FOREIGN KEY (inventory_id) REFERENCES inventories (id) ON DELETE SET NULL DEFERRABLE`);
    }
    await runner.query(trigger(''));
  }
}
