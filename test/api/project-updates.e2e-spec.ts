import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

let counter = 0;

/** Returns the pending update of a new project, requested by the administrator of its organization. */
async function pendingUpdate(): Promise<Row> {
  const project = await test.make.row('project', {
    name: `Synced ${(counter += 1)}`,
    organization: test.home.organization.id,
    scm_type: 'git',
    scm_url: 'https://code.invalid/project.git',
  });
  const { body } = await test.as.orgAdmin.post(`projects/${project.id}/update/`).expect(202);
  return body as Row;
}

it('is canceled immediately while it waits, and deleted by admins of the organization', async () => {
  const { as, make } = test;
  const update = await pendingUpdate();
  const url = `project_updates/${update.id}/`;
  await make.grant('project', { id: update.project as number }, 'read_role', {
    user: as.users.nobody,
  });
  await as.nobody.get(url).expect(200);
  await as.nobody.post(`${url}cancel/`).expect(403);
  await as.nobody.delete(url).expect(403);
  const running = await as.orgAdmin.delete(url).expect(403);
  expect(running.body).toEqual({ detail: 'Cannot delete running job resource.' });
  const may = await as.orgAdmin.get(`${url}cancel/`).expect(200);
  expect(may.body).toEqual({ can_cancel: true });
  await as.orgAdmin.post(`${url}cancel/`).expect(202);
  const { body } = await as.orgAdmin.get(url).expect(200);
  expect(body).toMatchObject({ status: 'canceled', failed: true });
  await as.orgAdmin.post(`${url}cancel/`).expect(405);
  await as.orgAdmin.delete(url).expect(204);
});

it('has working links and cannot be changed', async () => {
  const update = await pendingUpdate();
  for (const path of Object.values(update.related as object) as string[]) {
    await test.as.superuser.get(path).expect(200);
  }
  await test.as.superuser.post('project_updates/', {}).expect(405);
  await test.as.superuser.patch(`project_updates/${update.id}/`, {}).expect(405);
});

it('is forgotten by a project whose source changes', async () => {
  const { project: id } = await pendingUpdate();
  await test.database.execute(
    sql`UPDATE unified_job_templates SET scm_revision = 'abc' WHERE id = ${Number(id)}`,
  );
  const revisionAfter = async (change: object): Promise<unknown> =>
    (await test.as.orgAdmin.patch(`projects/${id}/`, change).expect(200)).body.scm_revision;
  expect(await revisionAfter({ scm_refspec: 'refs/pull/*:refs/pull/*' })).toBe('abc');
  expect(await revisionAfter({ scm_url: 'https://code.invalid/other.git' })).toBe('');
});
