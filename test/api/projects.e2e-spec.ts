import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { ProjectsRepository } from '../../src/projects/projects.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { endedOrWaiting } from '../support/interleave.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { PROJECT_SCM_SCHEMES: 'https,ssh' } });
});
afterAll(() => test.close());

let counter = 0;
const HTTP_ONLY = 'An archive or a Subversion repository has an http or https URL.';
const SVN_REVISION = 'A revision of Subversion is a number, HEAD or a date in braces.';

const gitFields = (fields: object = {}): Record<string, unknown> => ({
  name: `Project ${(counter += 1)}`,
  organization: test.home.organization.id,
  scm_type: 'git',
  scm_url: 'https://code.invalid/project.git',
  ...fields,
});
const makeGit = (fields: object = {}): Promise<Row> => test.make.row('project', gitFields(fields));

/** Ends the active updates of a project, as a worker does. */
async function settle(project: Row, status = 'successful'): Promise<void> {
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = ${status}, finished = now()
    WHERE unified_job_template_id = ${project.id}`);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET status = ${status}, current_job_id = NULL
    WHERE id = ${project.id}`);
}

const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, update: number, remove: number]
> = {
  superuser: [200, 200, 201, 202, 204],
  auditor: [200, 403, 403, 403, 403],
  orgAdmin: [200, 200, 201, 202, 204],
  orgMember: [403, 403, 403, 403, 403],
  teamAdmin: [200, 200, 403, 202, 204],
  teamMember: [200, 403, 403, 202, 403],
  outsider: [403, 403, 403, 403, 403],
  nobody: [403, 403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, update, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding, ${update} syncing, ${remove} deleting`, async () => {
    const { as, make } = test;
    const project = await makeGit();
    await make.grant('project', project, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('project', project, 'update_role', { user: as.users.teamMember });
    const url = `projects/${project.id}/`;
    await as[name].get(url).expect(read);
    await as[name].get(`${url}playbooks/`).expect(read);
    await as[name].patch(url, { description: name }).expect(change);
    await as[name].post('projects/', gitFields()).expect(add);
    await as[name].get(`${url}update/`).expect(read);
    await as[name].post(`${url}update/`).expect(update);
    await settle(project);
    await as[name].delete(url).expect(remove);
  });
});

describe('validation', () => {
  const manual = 'Update options must be set to false for manual projects.';

  it.each<[string, object, object]>([
    ['no address', { scm_url: '' }, { scm_url: ['SCM URL is required.'] }],
    [
      'a scheme that is not allowed',
      { scm_url: 'file:///etc' },
      { scm_url: ['Git URLs with the scheme "file" are not allowed.'] },
    ],
    ['a helper program', { scm_url: 'ext::sh -c id' }, { scm_url: ['Invalid git URL.'] }],
    ['an option', { scm_url: '--upload-pack=x' }, { scm_url: ['Invalid git URL.'] }],
    [
      'a branch that is an option',
      { scm_branch: '--x' },
      { scm_branch: ['"--x" is not a valid branch, tag or commit.'] },
    ],
    ['a refspec', { scm_refspec: '-x' }, { scm_refspec: ['"-x" is not a valid refspec.'] }],
    ['an unknown type', { scm_type: 'hg' }, { scm_type: ['"hg" is not a valid choice.'] }],
    [
      'options of git for an archive',
      { scm_type: 'archive', scm_branch: 'main', scm_refspec: 'a:b', allow_override: true },
      {
        scm_branch: ['SCM branch cannot be used with archive projects.'],
        scm_refspec: ['SCM refspec can only be used with git projects.'],
        allow_override: ['SCM allow_override can only be used with git projects.'],
      },
    ],
    [
      'an option for Subversion in place of a revision, and an address of ssh',
      { scm_type: 'svn', scm_url: 'ssh://git@code.invalid/a', scm_branch: '--config-dir=/tmp' },
      { scm_url: [HTTP_ONLY], scm_branch: [SVN_REVISION] },
    ],
    [
      'options of a manual project',
      { scm_type: '', scm_url: '', scm_clean: true, allow_override: true },
      { scm_clean: [manual], allow_override: [manual] },
    ],
    [
      'a URL of a manual project',
      { scm_type: '' },
      { scm_url: ['A manual project has no URL. Choose the SCM type git for one.'] },
    ],
    [
      'a negative timeout',
      { timeout: -1 },
      {
        timeout: ['Ensure this value is greater than or equal to 0.'],
      },
    ],
  ])('%s', async (_name, fields, errors) => {
    const { body } = await test.as.superuser.post('projects/', gitFields(fields)).expect(400);
    expect(body).toEqual(errors);
  });

  it.each(['../x', '/etc', 'a/b', '.', '..', '_1__other', '-x'])('the folder %s', async (path) => {
    const fields = gitFields({ scm_type: '', scm_url: '', local_path: path });
    const { body } = await test.as.superuser.post('projects/', fields).expect(400);
    expect(Object.keys(body)).toEqual(['local_path']);
  });

  it.each([
    ['git', 'https://bob:secret@code.invalid/project.git'],
    ['git', 'ssh://git:secret@code.invalid/project.git'],
    ['git', 'git:secret@code.invalid:project.git'],
    ['', 'https://bob:p%40ss@code.invalid/project.git'],
  ])('a password in the address of a project of type "%s": %s', async (scm_type, scm_url) => {
    const { superuser, orgAdmin } = test.as;
    const refused = { scm_url: ['Enter the password in a credential, not in the URL.'] };
    const sent = gitFields({ scm_type, scm_url });
    expect((await superuser.post('projects/', sent).expect(400)).body).toEqual(refused);
    const project = await makeGit();
    const change = scm_type === '' ? { scm_url, scm_type, local_path: 'by_hand' } : { scm_url };
    const { body } = await orgAdmin.patch(`projects/${project.id}/`, change).expect(400);
    expect(body).toEqual(refused);
  });

  it.each(['git@code.invalid:project.git', 'https://bob@code.invalid/project.git'])(
    'no user name in %s',
    async (scm_url) => {
      const { body } = await test.as.superuser
        .post('projects/', gitFields({ scm_url }))
        .expect(201);
      expect(body.scm_url).toBe(scm_url);
    },
  );

  it('a credential of another kind', async () => {
    const { as, make } = test;
    const machine = await make.credential();
    const scm = await make.credential({ namespace: 'scm' });
    const create = (credential: number) =>
      as.superuser.post('projects/', gitFields({ credential }));
    const { body } = await create(machine.id).expect(400);
    expect(body).toEqual({ credential: ["Credential kind must be 'scm'."] });
    await create(scm.id).expect(201);
    await as.orgAdmin.post('projects/', gitFields({ credential: scm.id })).expect(403);
  });

  it('a name that is taken, and a missing organization for an ordinary user', async () => {
    const project = await makeGit();
    const taken = gitFields({ name: project.name });
    const { body } = await test.as.orgAdmin.post('projects/', taken).expect(400);
    expect(body).toEqual({
      __all__: ['Project with this (name, organization) combination already exists.'],
    });
    await test.as.orgAdmin.post('projects/', gitFields({ organization: null })).expect(403);
    await test.as.orgAdmin.patch(`projects/${project.id}/`, { organization: null }).expect(403);
  });

  it('an organization that has a template of the name of one of the project', async () => {
    const { make, home } = test;
    const [project, other] = [await makeGit(), await makeGit({ organization: null })];
    for (const { id } of [project, other]) await make.jobTemplate({ project: id, name: 'Deploy' });
    const move = { organization: home.organization.id };
    const { body } = await test.as.superuser.patch(`projects/${other.id}/`, move).expect(400);
    expect(body).toEqual({
      organization: ['A job template of the project has the name of one in this organization.'],
    });
  });

  it('the end of branch overrides that templates use', async () => {
    const project = await makeGit({ allow_override: true });
    await settle(project);
    const template = await test.make.jobTemplate({ project: project.id, scm_branch: 'x' });
    const url = `projects/${project.id}/`;
    const { body } = await test.as.superuser.patch(url, { allow_override: false }).expect(400);
    expect(body).toEqual({
      allow_override: [
        `One or more job templates depend on branch override behavior for this project (ids: ${template.id}).`,
      ],
    });
  });
});

describe('a project with a source', () => {
  const updatesOf = async (project: Row): Promise<Row[]> => {
    const { body } = await test.as.superuser
      .get(`projects/${project.id}/project_updates/?order_by=id`)
      .expect(200);
    return body.results as Row[];
  };

  it('has its own folder and is synced after its creation and after a change of its source', async () => {
    const project = await makeGit({ name: 'Äpfel & Birnen', local_path: 'ignored' });
    expect(project.local_path).toBe(`_${project.id}__apfel_birnen`);
    const url = `projects/${project.id}/`;
    const { body } = await test.as.orgAdmin.get(url).expect(200);
    expect(body).toMatchObject({
      status: 'pending',
      last_updated: null,
      last_update_failed: false,
      related: { current_update: body.related.current_job },
      summary_fields: { current_update: { status: 'pending' } },
    });
    expect(await updatesOf(project)).toHaveLength(1);
    await test.as.orgAdmin.patch(url, { description: 'no new source' }).expect(200);
    await test.as.orgAdmin.patch(url, { scm_branch: '' }).expect(200);
    expect(await updatesOf(project)).toHaveLength(1);
    await test.as.orgAdmin.patch(url, { scm_branch: 'develop' }).expect(200);
    const [, second] = await updatesOf(project);
    expect(second).toMatchObject({
      scm_branch: 'develop',
      launch_type: 'manual',
      launched_by: { name: 'orgAdmin' },
    });
    const fixed = await test.as.orgAdmin.patch(url, { local_path: 'mine' }).expect(400);
    expect(fixed.body).toEqual({ local_path: ['Cannot change local_path for git-based projects'] });
  });

  it('is synced on request: 202 with the record and its Location', async () => {
    const project = await makeGit();
    const response = await test.as.orgAdmin.post(`projects/${project.id}/update/`).expect(202);
    expect(response.body).toMatchObject({
      project_update: response.body.id,
      type: 'project_update',
      status: 'pending',
      project: project.id,
    });
    expect(response.headers.location).toBe(`/api/v2/project_updates/${response.body.id}/`);
  });

  it('lists the content that its last sync found', async () => {
    const project = await makeGit();
    await test.database.execute(sql`
      UPDATE unified_job_templates SET playbook_files = '["a.yml"]', inventory_files = '["hosts"]'
      WHERE id = ${project.id}`);
    const playbooks = await test.as.orgAdmin.get(`projects/${project.id}/playbooks/`).expect(200);
    expect(playbooks.body).toEqual(['a.yml']);
    const files = await test.as.orgAdmin.get(`projects/${project.id}/inventories/`).expect(200);
    expect(files.body).toEqual(['hosts']);
  });

  it('cannot be deleted during a run; a deletion removes its updates and keeps its templates', async () => {
    const { as, make } = test;
    const project = await makeGit();
    const url = `projects/${project.id}/`;
    const { body } = await as.orgAdmin.delete(url).expect(409);
    expect(body).toMatchObject({
      detail: expect.stringMatching(/running jobs: project update \d+\.$/),
      active_jobs: [{ id: expect.any(Number), type: 'project_update' }],
    });
    await settle(project);
    const template = await make.jobTemplate({ project: project.id });
    const folder = join(test.app.get(Settings).DATA_DIR, 'projects', String(project.local_path));
    await mkdir(folder, { recursive: true });
    const [update] = await updatesOf(project);
    await as.orgAdmin.delete(url).expect(204);
    await as.superuser.get(`project_updates/${update!.id}/`).expect(404);
    const left = await as.superuser.get(`job_templates/${template.id}/`).expect(200);
    expect(left.body.project).toBeNull();
    await eventually(() => expect(mkdir(folder)).resolves.toBeUndefined());
  });

  it('is copied with its own folder and sync', async () => {
    const project = await makeGit();
    const { body } = await test.as.orgAdmin
      .post(`projects/${project.id}/copy/`, { name: 'The copy' })
      .expect(201);
    expect(body.local_path).toBe(`_${body.id}__the_copy`);
    expect(body.status).toBe('pending');
    await test.make.grant('project', project, 'read_role', { user: test.as.users.nobody });
    await test.as.nobody.post(`projects/${project.id}/copy/`, { name: 'x' }).expect(403);
  });
});

describe('a manual project', () => {
  it('uses an existing folder exclusively, and cannot be synced', async () => {
    const { as, home } = test;
    const root = join(test.app.get(Settings).DATA_DIR, 'projects');
    await mkdir(join(root, 'mine'), { recursive: true });
    await writeFile(join(root, 'mine', 'site.yml'), '- hosts: all\n');
    const fields = { organization: home.organization.id, local_path: 'mine' };
    const { body } = await as.orgAdmin.post('projects/', { ...fields, name: 'Mine' }).expect(201);
    expect(body).toMatchObject({ status: 'ok', scm_type: '', local_path: 'mine' });
    const second = await as.orgAdmin.post('projects/', { ...fields, name: 'Second' }).expect(400);
    expect(second.body).toEqual({
      local_path: ['This path is already being used by another manual project.'],
    });
    const playbooks = await as.orgAdmin.get(`projects/${body.id}/playbooks/`).expect(200);
    expect(playbooks.body).toEqual(['site.yml']);
    const may = await as.orgAdmin.get(`projects/${body.id}/update/`).expect(200);
    expect(may.body).toEqual({ can_update: false });
    await as.orgAdmin.post(`projects/${body.id}/update/`).expect(405);
    const missing = { ...fields, name: 'Third', local_path: 'absent' };
    const { body: third } = await as.orgAdmin.post('projects/', missing).expect(201);
    expect(third.status).toBe('missing');
    const none = await as.orgAdmin.get(`projects/${third.id}/playbooks/`).expect(200);
    expect(none.body).toEqual([]);
  });

  it('keeps its own folder if its path is emptied', async () => {
    const { as, make, home } = test;
    const project = await make.project({
      organization: home.organization.id,
      local_path: 'emptied',
    });
    const url = `projects/${project.id}/`;
    const { body } = await as.orgAdmin.patch(url, { local_path: '' }).expect(200);
    expect(body).toMatchObject({
      local_path: expect.stringMatching(`^_${project.id}__`),
      status: 'missing',
    });
    for (const files of ['playbooks', 'inventories']) {
      expect((await as.orgAdmin.get(`${url}${files}/`).expect(200)).body).toEqual([]);
    }
  });

  it('is refused the folder of a project that is created at the same time', async () => {
    const { as, app, database, home } = test;
    const fields = { organization: home.organization.id, local_path: 'shared' };
    const projects = app.get(ProjectsRepository, { strict: false });
    const isPathTaken = projects.isPathTaken.bind(projects);
    let second = Promise.resolve({ status: 0 });
    jest.spyOn(projects, 'isPathTaken').mockImplementationOnce(async (...path) => {
      const isTaken = await isPathTaken(...path);
      second = as.orgAdmin
        .post('projects/', { ...fields, name: 'Second' })
        .then((answer) => answer);
      await endedOrWaiting(database, second);
      return isTaken;
    });
    await as.orgAdmin.post('projects/', { ...fields, name: 'First' }).expect(201);
    expect((await second).status).toBe(400);
  });

  it('gets its own folder if it gets a source, and keeps the folder with a new name and source', async () => {
    const organization = test.home.organization.id;
    const project = await test.make.project({ organization, local_path: '' });
    const change = async (fields: object) =>
      (await test.as.orgAdmin.patch(`projects/${project.id}/`, fields).expect(200)).body;
    const body = await change({ scm_type: 'git', scm_url: 'https://code.invalid/x', name: 'New' });
    expect(body.local_path).toMatch(new RegExp(`^_${project.id}__`));
    expect(body.local_path).not.toBe(project.local_path);
    expect(body.status).toBe('pending');
    const moved = await change({ scm_type: 'svn', scm_url: 'https://code.invalid/svn' });
    expect(moved.local_path).toBe(body.local_path);
  });
});

it('the links of a project work', async () => {
  const project = await makeGit();
  const { body } = await test.as.superuser.get(`projects/${project.id}/`).expect(200);
  expect(Object.keys(body.related)).toEqual(
    expect.arrayContaining([
      ...['teams', 'playbooks', 'inventory_files', 'update', 'project_updates', 'access_list'],
      ...['activity_stream', 'object_roles', 'copy', 'notification_templates_started'],
      ...['notification_templates_success', 'notification_templates_error', 'current_update'],
    ]),
  );
  for (const path of Object.values(body.related) as string[]) {
    await test.as.superuser.get(path).expect(200);
  }
});

it('fifty projects need as many statements as one', async () => {
  for (let i = 0; i < 50; i++) await makeGit();
  await samePageQueries(test.database, test.as.orgAdmin, 'projects/?order_by=-id', [1, 50]);
  await samePageQueries(test.database, test.as.orgAdmin, 'project_updates/?order_by=-id', [1, 50]);
});
