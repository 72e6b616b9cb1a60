import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { sql } from '../../src/database/sql.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { Settings } from '../../src/config/settings.js';
import { ProjectsRepository } from '../../src/projects/projects.repository.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot({ settings: { PROJECT_SCM_SCHEMES: 'https' } });
});
afterAll(() => test.close());

it('a worker removes the folders of fetched projects that another machine deleted', async () => {
  const make = (scm_url: string): Promise<Row> =>
    test.make.row('project', {
      name: `Project ${scm_url}`,
      organization: test.home.organization.id,
      scm_type: scm_url === '' ? '' : 'git',
      scm_url,
    });
  const [used, deleted, manual] = [
    await make('https://code.invalid/used.git'),
    await make('https://code.invalid/deleted.git'),
    await make('https://code.invalid/manual.git'),
  ];
  const root = join(test.app.get(Settings).DATA_DIR, 'projects');
  const paths = [used, deleted, manual].map(({ local_path: path }) => String(path));
  const update = { scm_type: '', scm_url: '', local_path: paths[2] };
  await mkdir(join(root, paths[2]!), { recursive: true });
  await test.as.orgAdmin.patch(`projects/${manual.id}/`, update).expect(200);
  await test.database.execute(sql`UPDATE unified_jobs SET status = 'canceled'`);
  for (const { id } of [deleted, manual])
    await test.as.orgAdmin.delete(`projects/${id}/`).expect(204);
  const kept = [paths[0]!, paths[2]!, 'copied_by_hand', '_999999__other'].sort();
  for (const name of [...kept, paths[1]!])
    await mkdir(join(root, name, 'files'), { recursive: true });
  const worker = await bootWorker(test);
  try {
    await eventually(async () => expect((await readdir(root)).sort()).toEqual(kept));
  } finally {
    await worker.close();
  }
});

it('a pending update changes neither the files nor the status of a project that became manual', async () => {
  const project = await test.make.row('project', {
    name: 'Becomes manual',
    organization: test.home.organization.id,
    scm_type: 'git',
    scm_url: 'https://code.invalid/project.git',
  });
  const url = `projects/${project.id}/`;
  const { body } = await test.as.orgAdmin.get(`${url}project_updates/`).expect(200);
  await test.as.orgAdmin.patch(url, { scm_type: '', scm_url: '' }).expect(200);
  const worker = await bootWorker(test);
  try {
    await eventually(async () => {
      const { body: update } = await test.as.orgAdmin
        .get(body.results[0].url as string)
        .expect(200);
      expect(update).toMatchObject({
        status: 'failed',
        job_explanation: 'Job could not start because it does not have a valid project.',
      });
    }, 20_000);
    const { body: shown } = await test.as.orgAdmin.get(url).expect(200);
    expect(shown).toMatchObject({ status: 'missing', last_job_failed: true });
  } finally {
    await worker.close();
  }
});

it('a sync of the former source of a project does not store its revision', async () => {
  const former = { scm_type: 'git', scm_url: 'https://code.invalid/former.git', scm_branch: '' };
  const { id } = await test.make.row('project', {
    ...{ name: 'Gets another source', organization: test.home.organization.id },
    ...former,
  });
  const store = (scm_revision: string) =>
    test.app
      .get(ProjectsRepository)
      .storeSync(id, former, { scm_revision, playbook_files: [], inventory_files: [] });
  const revision = async (): Promise<unknown> =>
    (await test.as.orgAdmin.get(`projects/${id}/`).expect(200)).body.scm_revision;
  await store('abc');
  expect(await revision()).toBe('abc');
  await test.as.orgAdmin.patch(`projects/${id}/`, { scm_branch: 'next' }).expect(200);
  await store('def');
  expect(await revision()).toBe('');
});
