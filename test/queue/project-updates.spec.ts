import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot({ settings: { PROJECT_SCM_SCHEMES: 'https' } });
});
afterAll(() => test.close());

it('a worker removes the folders of projects that another machine deleted', async () => {
  const project = await test.make.row('project', {
    name: 'Stays',
    organization: test.home.organization.id,
    scm_type: 'git',
    scm_url: 'https://code.invalid/project.git',
  });
  const kept = [
    ...[String(project.local_path), 'copied_by_hand', '_9__copied-by-hand'],
    // The project can have been manual there.
    `_${project.id}__earlier`,
  ].sort();
  const root = join(test.app.get(Settings).DATA_DIR, 'projects');
  for (const name of [...kept, '_999999__deleted'])
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
