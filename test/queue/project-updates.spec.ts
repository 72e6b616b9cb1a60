import { boot, bootWorker } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

it('a pending update does not change the files of a project that became manual', async () => {
  const test = await boot({ settings: { PROJECT_SCM_SCHEMES: 'https' } });
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
  } finally {
    await worker.close();
    await test.close();
  }
});
