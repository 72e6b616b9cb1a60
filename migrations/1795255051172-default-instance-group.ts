import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the instance group of every installation, with the role edges of `instance-groups.resource`. */
export class DefaultInstanceGroup1795255051172 implements MigrationInterface {
  name = 'DefaultInstanceGroup1795255051172';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      WITH made AS (
        INSERT INTO instance_groups (name) VALUES ('default') RETURNING id
      ), own AS (
        INSERT INTO roles (content_type, object_id, role_field)
        SELECT 'instance_group', made.id, field
        FROM made CROSS JOIN unnest('{admin_role,use_role,read_role}'::text[]) AS field
        RETURNING id, object_id, role_field
      ), edges AS (
        INSERT INTO role_parents (child_id, parent_id, via)
        SELECT child.id, parent.id, 'implied'
        FROM (VALUES ('use_role', 'admin_role'), ('read_role', 'use_role'),
          ('read_role', 'admin_role')) AS edge (child, parent)
        JOIN own child ON child.role_field = edge.child
        JOIN own parent ON parent.role_field = edge.parent
        RETURNING child_id, parent_id
      )
      INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
      SELECT up.ancestor_id, own.id, 'instance_group', own.role_field, own.object_id
      FROM (SELECT id AS role_id, id AS ancestor_id FROM own
        UNION SELECT child_id, parent_id FROM edges) AS up
      JOIN own ON own.id = up.role_id`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM roles WHERE content_type = 'instance_group'`);
    await runner.query(`DELETE FROM instance_groups WHERE name = 'default'`);
  }
}
