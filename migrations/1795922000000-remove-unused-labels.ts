import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Templates first: they usually still have the label of a removed job. */
const LINKS = [
  ...['job_template_labels', 'workflow_job_template_labels', 'inventory_labels'],
  ...['workflow_template_node_labels', 'schedule_labels'],
  ...['job_labels', 'workflow_job_labels', 'workflow_job_node_labels'],
];
const UNUSED = LINKS.map(
  (table) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE label_id = OLD.label_id)`,
).join(' AND ');

/**
 * Deletes a label with its last use, also when the object that has the label is deleted. The first lock
 * serializes removals of one label without blocking launches that use the label; the second lock waits for
 * transactions that attach the label. The first statement does not find a label that is being deleted itself.
 */
export class RemoveUnusedLabels1795922000000 implements MigrationInterface {
  name = 'RemoveUnusedLabels1795922000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION remove_unused_label() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM 1 FROM labels WHERE id = OLD.label_id FOR NO KEY UPDATE;
        IF FOUND AND ${UNUSED} THEN
          PERFORM 1 FROM labels WHERE id = OLD.label_id FOR UPDATE;
          DELETE FROM labels WHERE id = OLD.label_id AND ${UNUSED};
        END IF;
        RETURN NULL;
      END $$`);
    for (const table of LINKS) {
      await runner.query(`CREATE TRIGGER ${table}_remove_unused AFTER DELETE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION remove_unused_label()`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of LINKS) {
      await runner.query(`DROP TRIGGER ${table}_remove_unused ON ${table}`);
    }
    await runner.query('DROP FUNCTION remove_unused_label()');
  }
}
