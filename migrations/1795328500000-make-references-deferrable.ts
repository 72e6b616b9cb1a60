import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes foreign keys deferrable. A deletion that reaches a row by several references takes several steps.
 * PostgreSQL checks all references of a row that changed earlier in the transaction, even those that a later
 * step sets to null: a template could not be deleted after its schedule had launched a run. Deletions
 * therefore defer the checks to their end.
 */
export class MakeReferencesDeferrable1795328500000 implements MigrationInterface {
  name = 'MakeReferencesDeferrable1795328500000';

  async up(runner: QueryRunner): Promise<void> {
    await alterAll(runner, 'DEFERRABLE');
    // The delivery log outlives the template.
    await runner.query(`ALTER TABLE webhook_deliveries ALTER template_id DROP NOT NULL`);
    await replaceTemplateReference(runner, 'SET NULL DEFERRABLE');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM webhook_deliveries WHERE template_id IS NULL`);
    await replaceTemplateReference(runner, 'CASCADE');
    await runner.query(`ALTER TABLE webhook_deliveries ALTER template_id SET NOT NULL`);
    await alterAll(runner, 'NOT DEFERRABLE');
  }
}

async function alterAll(runner: QueryRunner, when: string): Promise<void> {
  const references = (await runner.query(`
    SELECT conrelid::regclass AS table, quote_ident(conname) AS name FROM pg_constraint
    WHERE contype = 'f' AND connamespace = 'public'::regnamespace
    ORDER BY 1, 2`)) as { table: string; name: string }[];
  for (const { table, name } of references) {
    await runner.query(`ALTER TABLE ${table} ALTER CONSTRAINT ${name} ${when}`);
  }
}

async function replaceTemplateReference(runner: QueryRunner, onDelete: string): Promise<void> {
  await runner.query(`ALTER TABLE webhook_deliveries
    DROP CONSTRAINT webhook_deliveries_template_id_fkey,
    ADD CONSTRAINT webhook_deliveries_template_id_fkey
      FOREIGN KEY (template_id) REFERENCES unified_job_templates (id) ON DELETE ${onDelete}`);
}
