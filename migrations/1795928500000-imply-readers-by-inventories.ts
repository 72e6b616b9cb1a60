import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The auditor of the organization of a job template's inventory reads the job template. */
const IMPLIED = `
  SELECT child.id AS child_id, parent.id AS parent_id
  FROM unified_job_templates t
  JOIN inventories inv ON inv.id = t.inventory_id
  JOIN roles child ON child.content_type = 'job_template' AND child.object_id = t.id
    AND child.role_field = 'read_role'
  JOIN roles parent ON parent.content_type = 'organization'
    AND parent.object_id = inv.organization_id AND parent.role_field = 'auditor_role'
  WHERE t.type = 'job_template' AND t.organization_id IS DISTINCT FROM inv.organization_id`;

/** Lets the auditors of the organization of an inventory read its job templates. */
export class ImplyReadersByInventories1795928500000 implements MigrationInterface {
  name = 'ImplyReadersByInventories1795928500000';

  async up(runner: QueryRunner): Promise<void> {
    // The lock of the role graph: see RoleGraph.
    await runner.query(`SELECT pg_advisory_xact_lock(7301)`);
    await runner.query(`
      INSERT INTO role_parents (child_id, parent_id, via)
      SELECT child_id, parent_id, 'implied' FROM (${IMPLIED}) edge ON CONFLICT DO NOTHING`);
    await runner.query(`
      INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
      SELECT up.ancestor_id, child.id, child.content_type, child.role_field, child.object_id
      FROM (${IMPLIED}) edge JOIN role_ancestors up ON up.role_id = edge.parent_id
      JOIN roles child ON child.id = edge.child_id ON CONFLICT DO NOTHING`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`SELECT pg_advisory_xact_lock(7301)`);
    await runner.query(`
      WITH RECURSIVE lost AS MATERIALIZED (${IMPLIED}),
      removed AS (
        DELETE FROM role_parents USING lost WHERE role_parents.via = 'implied'
          AND (role_parents.child_id, role_parents.parent_id) = (lost.child_id, lost.parent_id)
      ),
      up (role_id, ancestor_id) AS (
        SELECT child_id, child_id FROM lost
        UNION
        SELECT up.role_id, edge.parent_id
        FROM up JOIN role_parents edge ON edge.child_id = up.ancestor_id
        WHERE NOT EXISTS (SELECT 1 FROM lost WHERE edge.via = 'implied'
          AND (edge.child_id, edge.parent_id) = (lost.child_id, lost.parent_id))
      )
      DELETE FROM role_ancestors anc USING lost
      WHERE anc.role_id = lost.child_id AND NOT EXISTS (SELECT 1 FROM up
        WHERE up.role_id = anc.role_id AND up.ancestor_id = anc.ancestor_id)`);
  }
}
