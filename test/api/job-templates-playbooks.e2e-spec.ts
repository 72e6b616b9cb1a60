import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { JobTemplatesRepository } from '../../src/job-templates/job-templates.repository.js';
import { ProjectFolders } from '../../src/projects/project-folders.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { endedOrWaiting } from '../support/interleave.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Creates a template of a project with a playbook. */
const plays = (project: Row, playbook: string) =>
  test.as.superuser.post('job_templates/', {
    name: `${String(project.name)}: ${playbook}`,
    ...{ project: project.id, playbook, ask_inventory_on_launch: true },
  });

it('the form offers the playbooks of a synced project', async () => {
  const synced = await test.make.project();
  await test.database.execute(sql`
    UPDATE unified_job_templates SET scm_type = 'git', scm_url = 'https://x.invalid/x',
      scm_revision = 'abc', playbook_files = '["site.yml"]' WHERE id = ${synced.id}`);
  await plays(synced, 'site.yml').expect(201);
  const { body } = await plays(synced, 'other.yml').expect(400);
  expect(body).toEqual({ playbook: ['Playbook not found for project.'] });
  await test.database.execute(
    sql`UPDATE unified_job_templates SET allow_override = true WHERE id = ${synced.id}`,
  );
  await plays(synced, 'other.yml').expect(201);
});

it('the form offers the playbooks of a manual project if its folder exists', async () => {
  const manual = await test.make.project();
  await plays(manual, 'not-there-yet.yml').expect(201);
  const folder = test.app.get(ProjectFolders).path(String(manual.local_path));
  await mkdir(join(folder, 'plays'), { recursive: true });
  await writeFile(join(folder, 'plays', 'site.yml'), '- hosts: all');
  await plays(manual, 'plays/site.yml').expect(201);
  for (const playbook of ['other.yml', '../../site.yml', '/etc/passwd']) {
    const { body } = await plays(manual, playbook).expect(400);
    expect(body).toEqual({ playbook: ['Playbook not found for project.'] });
  }
});

it('a project keeps the override that a template uses from the same time on', async () => {
  const { as, app, database, make } = test;
  const project = await make.project();
  await database.execute(sql`
    UPDATE unified_job_templates SET scm_type = 'git', scm_url = 'https://x.invalid/x',
      allow_override = true WHERE id = ${project.id}`);
  const template = await make.jobTemplate({ project: project.id });
  const templates = app.get(JobTemplatesRepository, { strict: false });
  const read = templates.project.bind(templates);
  let status = 0;
  let change: Promise<unknown> = Promise.resolve();
  jest.spyOn(templates, 'project').mockImplementationOnce(async (id) => {
    const found = await read(id);
    change = as.superuser
      .patch(`projects/${project.id}/`, { allow_override: false })
      .then((answer) => (status = answer.status));
    await endedOrWaiting(database, change);
    return found;
  });
  await as.superuser.patch(`job_templates/${template.id}/`, { scm_branch: 'next' }).expect(200);
  await change;
  expect(status).toBe(400);
});

it('no launch is offered without a playbook or project', async () => {
  const { as, database } = test;
  const template = await test.make.jobTemplate();
  const url = `job_templates/${template.id}/`;
  const mayStart = async (): Promise<boolean> =>
    (await as.superuser.get(url).expect(200)).body.summary_fields.user_capabilities.start;
  expect(await mayStart()).toBe(true);
  await as.superuser.patch(url, { ask_inventory_on_launch: true, inventory: null }).expect(200);
  expect(await mayStart()).toBe(true);
  await database.execute(
    sql`UPDATE unified_job_templates SET project_id = NULL WHERE id = ${template.id}`,
  );
  expect(await mayStart()).toBe(false);
});
