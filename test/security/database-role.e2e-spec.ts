/** The database role of the service owns its database and has no other rights in PostgreSQL. */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('the database role is an ordinary role that owns its database', async () => {
  const role = await test.database.row(sql`
    SELECT rolsuper, rolcreaterole, rolreplication, rolbypassrls,
      pg_get_userbyid(datdba) = rolname AS owner,
      (SELECT count(*)::int FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships
    FROM pg_roles JOIN pg_database ON datname = current_database() WHERE rolname = current_user`);
  expect(role).toEqual({
    ...{ rolsuper: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false },
    ...{ owner: true, memberships: 0 },
  });
});

it('the database role is the only one with a login', async () => {
  const others = await test.database.rows(sql`
    SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname <> current_user`);
  expect(others).toEqual([]);
});

it.each([
  ['run programs', sql`COPY (SELECT 1) TO PROGRAM 'true'`],
  ['write files', sql`COPY (SELECT 1) TO '/tmp/written'`],
  ['read files', sql`SELECT pg_read_file('postgresql.conf')`],
  ['list folders', sql`SELECT pg_ls_dir('.')`],
  ['import files', sql`SELECT lo_import('/etc/passwd')`],
  ['change the server', sql`ALTER SYSTEM SET work_mem = 1024`],
  ['make superusers', sql`CREATE ROLE another SUPERUSER`],
  ['become one', sql`SET ROLE postgres`],
  ['load programs', sql`CREATE LANGUAGE plpython3u`],
])('the database role cannot %s', async (_what, statement) => {
  await expect(test.database.execute(statement)).rejects.toThrow(/permission denied|must be super/);
});
