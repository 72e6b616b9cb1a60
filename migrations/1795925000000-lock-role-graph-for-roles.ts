import type { MigrationInterface, QueryRunner } from 'typeorm';

const LOCK = 'PERFORM pg_advisory_xact_lock';
const LOCK_FOR_ROLES = `IF NOT EXISTS (SELECT 1 FROM gone) THEN RETURN NULL; END IF; ${LOCK}`;

/** Takes the lock of the role graph only if an object with roles is deleted: others waited for each other. */
export class LockRoleGraphForRoles1795925000000 implements MigrationInterface {
  name = 'LockRoleGraphForRoles1795925000000';

  async up(runner: QueryRunner): Promise<void> {
    await replaceInFunction(runner, LOCK, LOCK_FOR_ROLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceInFunction(runner, LOCK_FOR_ROLES, LOCK);
  }
}

async function replaceInFunction(runner: QueryRunner, from: string, to: string): Promise<void> {
  const rows: { text: string }[] = await runner.query(
    `SELECT pg_get_functiondef('forget_roles'::regproc) AS text`,
  );
  for (const { text } of rows) await runner.query(text.replace(from, to));
}
