import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows own roles, and the content type of the roles (null: the `type` of the row). */
const OWNERS: readonly (readonly [table: string, type: string | null])[] = [
  ['organizations', 'organization'],
  ['teams', 'team'],
  ['credentials', 'credential'],
  ['inventories', 'inventory'],
  ['unified_job_templates', null],
];

/** Adds what TypeORM entities cannot express: triggers, rows of every installation, null-safe keys. */
export class RolesAndRules1795255051170 implements MigrationInterface {
  name = 'RolesAndRules1795255051170';

  async up(runner: QueryRunner): Promise<void> {
    // Names of templates without an organization are unique, too.
    await runner.query(`DROP INDEX unified_job_templates_name_key`);
    await runner.query(`CREATE UNIQUE INDEX unified_job_templates_name_key
      ON unified_job_templates (type, organization_id, name) NULLS NOT DISTINCT`);

    await runner.query(`
      CREATE FUNCTION forget_roles() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        affected integer[];
      BEGIN
        -- The lock of the role graph: see RoleGraph.
        PERFORM pg_advisory_xact_lock(7301);
        SELECT array_agg(DISTINCT anc.role_id) INTO affected
        FROM role_ancestors anc JOIN gone ON gone.id = anc.ancestor_id
        WHERE anc.role_id NOT IN (SELECT id FROM gone);
        DELETE FROM role_ancestors USING gone WHERE ancestor_id = gone.id OR role_id = gone.id;
        DELETE FROM role_parents USING gone WHERE parent_id = gone.id OR child_id = gone.id;
        WITH RECURSIVE up (role_id, ancestor_id) AS (
          SELECT id, id FROM unnest(affected) AS id
          UNION
          SELECT up.role_id, edge.parent_id
          FROM up JOIN role_parents edge ON edge.child_id = up.ancestor_id
        )
        DELETE FROM role_ancestors anc
        WHERE anc.role_id = ANY(affected)
          AND NOT EXISTS (SELECT 1 FROM up
            WHERE up.role_id = anc.role_id AND up.ancestor_id = anc.ancestor_id);
        RETURN NULL;
      END $$`);
    await runner.query(`CREATE TRIGGER roles_forget AFTER DELETE ON roles
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_roles()`);

    await runner.query(`
      CREATE FUNCTION forget_object_roles() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_NARGS = 1 THEN
          DELETE FROM roles USING gone
          WHERE content_type = TG_ARGV[0] AND object_id = gone.id;
        ELSE
          DELETE FROM roles USING gone
          WHERE content_type = to_jsonb(gone) ->> 'type' AND object_id = gone.id;
        END IF;
        RETURN NULL;
      END $$`);
    for (const [table, type] of OWNERS) {
      await runner.query(`CREATE TRIGGER ${table}_forget_roles AFTER DELETE ON ${table}
        REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
        EXECUTE FUNCTION forget_object_roles(${type === null ? '' : `'${type}'`})`);
    }

    await runner.query(`INSERT INTO roles (content_type, object_id, role_field)
      VALUES ('', NULL, 'system_administrator'), ('', NULL, 'system_auditor')`);
    await runner.query(`INSERT INTO installation (name, value)
      VALUES ('uuid', gen_random_uuid()::text)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM installation WHERE name = 'uuid'`);
    await runner.query(`DELETE FROM roles WHERE object_id IS NULL`);
    for (const [table] of OWNERS) {
      await runner.query(`DROP TRIGGER ${table}_forget_roles ON ${table}`);
    }
    await runner.query(`DROP FUNCTION forget_object_roles`);
    await runner.query(`DROP TRIGGER roles_forget ON roles`);
    await runner.query(`DROP FUNCTION forget_roles`);
    await runner.query(`DROP INDEX unified_job_templates_name_key`);
    await runner.query(`CREATE UNIQUE INDEX unified_job_templates_name_key
      ON unified_job_templates (type, organization_id, name)`);
  }
}
