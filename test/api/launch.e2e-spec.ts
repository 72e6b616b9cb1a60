import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { SIGNATURE_FAILED } from '../../src/runs/run-explanations.js';
import { boot, type TestApp } from '../support/boot.js';
import { failSync } from '../support/failed-sync.js';
import { LOST_SECRET } from '../support/lost-key.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, ...fields });

const launch = (template: Row, body: object = {}, as: PersonaName = 'superuser') =>
  test.as[as].post(`job_templates/${template.id}/launch/`, body);

it('a launch returns 201 with the job and its Location, and updates the template', async () => {
  const template = await makeTemplate();
  const response = await launch(template, { limit: null, credentials: null }).expect(201);
  const { body } = response;
  expect(body).toMatchObject({
    job: body.id,
    type: 'job',
    url: `/api/v2/jobs/${body.id}/`,
    launch_type: 'manual',
    job_template: template.id,
    extra_vars: '{}',
    launched_by: { type: 'user', name: 'superuser' },
  });
  expect(response.headers.location).toBe(body.url);
  const shown = await test.as.superuser.get(`job_templates/${template.id}/`).expect(200);
  expect(shown.body).toMatchObject({
    status: 'pending',
    related: { current_job: body.url },
    summary_fields: { recent_jobs: [{ id: body.id, status: 'pending', type: 'job' }] },
  });
  const stream = await test.as.superuser.get(`jobs/${body.id}/activity_stream/`).expect(200);
  expect(stream.body.results[0]).toMatchObject({ operation: 'create', object1: 'job' });
});

describe('refusals', () => {
  it.each<[string, object, object, object]>([
    [
      'unknown inventory',
      { ask_inventory_on_launch: true },
      { inventory: 999999 },
      {
        inventory: ['Invalid pk "999999" - object does not exist.'],
      },
    ],
    [
      'inventory that is not an id',
      {},
      { inventory: {} },
      {
        inventory: ['Incorrect type. Expected pk value, received dict.'],
      },
    ],
    [
      'unknown credential',
      { ask_credential_on_launch: true },
      { credentials: [999999] },
      {
        credentials: ['Invalid pk "999999" - object does not exist.'],
      },
    ],
    [
      'credentials that are not a list',
      {},
      { credentials: 'x' },
      {
        credentials: ['Value must be valid JSON.'],
      },
    ],
    [
      'credential that is not an id',
      {},
      { credentials: [null] },
      {
        credentials: ['Incorrect type. Expected pk value, received NoneType.'],
      },
    ],
    [
      'labels that cannot exist',
      { ask_labels_on_launch: true },
      { labels: [1] },
      {
        labels: ['Invalid pk "1" - object does not exist.'],
      },
    ],
    [
      'unknown instance group',
      { ask_instance_groups_on_launch: true },
      { instance_groups: [999999] },
      {
        instance_groups: ['Invalid pk "999999" - object does not exist.'],
      },
    ],
    [
      'too many forks',
      { ask_forks_on_launch: true },
      { forks: 201 },
      {
        forks: ['Maximum number of forks (200) exceeded.'],
      },
    ],
    [
      'verbosity out of range',
      {},
      { verbosity: 9 },
      {
        verbosity: ['"9" is not a valid choice.'],
      },
    ],
    [
      'no job type',
      { ask_job_type_on_launch: true },
      { job_type: '' },
      {
        job_type: ['"" is not a valid choice.'],
      },
    ],
    [
      'masked variable',
      { ask_variables_on_launch: true },
      { extra_vars: { x: '$encrypted$' } },
      {
        extra_vars: ['"$encrypted$" is a reserved keyword, may not be used for x.'],
      },
    ],
    [
      'passwords that are not an object',
      {},
      { credential_passwords: 'x' },
      {
        credential_passwords: ['Value must be valid JSON.'],
      },
    ],
  ])('%s', async (_name, fields, body, errors) => {
    const { body: answer } = await launch(await makeTemplate(fields), body).expect(400);
    expect(answer).toEqual(errors);
  });

  it('text that is neither JSON nor YAML', async () => {
    const { body } = await launch(await makeTemplate(), { extra_vars: '{a: [' }).expect(400);
    expect(body.extra_vars[0]).toMatch(/^Cannot parse as JSON \(error: .*\) or YAML \(error: /);
  });

  it('no inventory', async () => {
    const template = await makeTemplate({ ask_inventory_on_launch: true });
    await test.database.execute(
      sql`UPDATE unified_job_templates SET inventory_id = NULL WHERE id = ${template.id}`,
    );
    const { body } = await launch(template).expect(400);
    expect(body).toEqual({
      resources_needed_to_start: ['Job Template inventory is missing or undefined.'],
    });
  });

  it('an inventory that is being deleted', async () => {
    const doomed = await test.make.inventory();
    const template = await makeTemplate({ inventory: doomed.id });
    await test.database.execute(
      sql`UPDATE inventories SET pending_deletion = true WHERE id = ${doomed.id}`,
    );
    const own = await launch(template).expect(400);
    expect(own.body).toEqual({
      inventory: ['The inventory associated with this Job Template is being deleted.'],
    });
    const asking = await makeTemplate({ ask_inventory_on_launch: true });
    const sent = await launch(asking, { inventory: doomed.id }).expect(400);
    expect(sent.body).toEqual({ inventory: ['The provided inventory is being deleted.'] });
  });

  it('no project, and a project whose sync failed', async () => {
    const template = await makeTemplate();
    const set = (columns: ReturnType<typeof sql>) =>
      test.database.execute(
        sql`UPDATE unified_job_templates SET ${columns} WHERE id = ${template.project_id}`,
      );
    await set(sql`scm_type = 'git', scm_url = 'https://x.invalid/x', status = 'failed'`);
    const failed = await launch(template).expect(400);
    expect(failed.body).toEqual({
      playbook: ['Missing a revision to run due to failed project update.'],
    });
    await failSync(test, Number(template.project_id), `${SIGNATURE_FAILED}x is missing.`);
    const unsigned = await launch(template).expect(400);
    expect(unsigned.body).toEqual({
      playbook: ['Last project update failed due to signature validation failure.'],
    });
    await set(sql`scm_update_on_launch = true`);
    await launch(template).expect(201);
    await test.database.execute(
      sql`UPDATE unified_job_templates SET project_id = NULL WHERE id = ${template.id}`,
    );
    const gone = await launch(template).expect(400);
    expect(gone.body).toEqual({ project: ['A project is required to run a job.'] });
  });

  it('a branch that the project does not allow', async () => {
    const project = await test.make.project();
    await test.database.execute(
      sql`UPDATE unified_job_templates SET allow_override = true WHERE id = ${project.id}`,
    );
    const template = await makeTemplate({ project: project.id, ask_scm_branch_on_launch: true });
    const chosen = await launch(template, { scm_branch: 'develop' }).expect(201);
    expect(chosen.body.scm_branch).toBe('develop');
    const bad = await launch(template, { scm_branch: '--upload-pack=x' }).expect(400);
    expect(Object.keys(bad.body)).toEqual(['scm_branch']);
    await test.database.execute(
      sql`UPDATE unified_job_templates SET allow_override = false WHERE id = ${project.id}`,
    );
    const refused = await launch(template, { scm_branch: 'develop' }).expect(400);
    expect(refused.body).toEqual({
      scm_branch: ['Project does not allow override of branch.'],
    });
  });
});

describe('credentials', () => {
  it('must replace those of the template, one of each kind that a job can use', async () => {
    const { make, home } = test;
    const owned = { organization: home.organization.id };
    const [machine, second, vault, scm] = await Promise.all([
      make.credential({ ...owned, name: 'demo' }),
      make.credential(owned),
      make.credential({ ...owned, namespace: 'vault', inputs: { vault_password: 'x' } }),
      make.credential({ ...owned, namespace: 'scm' }),
    ]);
    const template = await makeTemplate({ ask_credential_on_launch: true });
    await test.as.superuser
      .post(`job_templates/${template.id}/credentials/`, { id: machine.id })
      .expect(204);
    const cases: [unknown[], string[]][] = [
      [
        [vault.id],
        [
          'Removing Machine credential at launch time without replacement is not supported. Provided list lacked credential(s): demo.',
        ],
      ],
      [[machine.id, second.id], ['Cannot assign multiple Machine credentials.']],
      [[machine.id, scm.id], ['Cannot assign a Credential of kind `scm`']],
    ];
    for (const [credentials, errors] of cases) {
      const { body } = await launch(template, { credentials }).expect(400);
      expect(body).toEqual({ credentials: errors });
    }
    const { body } = await launch(template, { credentials: [second.id, vault.id] }).expect(201);
    const used = body.summary_fields.credentials.map(({ id }: Row) => id);
    expect(used.sort()).toEqual([second.id, vault.id].sort());
  });

  it('with prompted passwords need them, and the passwords stay encrypted', async () => {
    const credential = await test.make.credential({
      inputs: { username: 'u', password: 'ASK', become_password: 'ASK' },
    });
    const template = await makeTemplate();
    await test.as.superuser
      .post(`job_templates/${template.id}/credentials/`, { id: credential.id })
      .expect(204);
    const needs = await test.as.superuser.get(`job_templates/${template.id}/launch/`).expect(200);
    expect(needs.body).toMatchObject({
      can_start_without_user_input: false,
      passwords_needed_to_start: ['ssh_password', 'become_password'],
      defaults: {
        credentials: [{ id: credential.id, passwords_needed: ['ssh_password', 'become_password'] }],
      },
    });
    const partly = { credential_passwords: { ssh_password: 'canary-one' } };
    const missing = await launch(template, partly).expect(400);
    expect(missing.body).toEqual({ passwords_needed_to_start: ['become_password'] });
    const all = { ...partly, become_password: 'canary-two', vault_password: 'unused' };
    const { body } = await launch(template, all).expect(201);
    expect(JSON.stringify(body)).not.toMatch(/canary/);
    const row = await test.database.row<{ start_args: string }>(
      sql`SELECT start_args FROM unified_jobs WHERE id = ${body.id}`,
    );
    expect(row!.start_args).toMatch(/^\$sealed\$/);
  });

  it('are not opened by a launch, only by the job', async () => {
    const { id } = await test.make.credential();
    const template = await makeTemplate();
    await test.as.superuser.post(`job_templates/${template.id}/credentials/`, { id }).expect(204);
    await test.database.execute(sql`
      UPDATE credentials SET inputs = ${JSON.stringify({ password: LOST_SECRET })} WHERE id = ${id}`);
    await launch(template).expect(201);
  });
});

it('the launch form shows the instance groups of the template', async () => {
  const template = await makeTemplate({ ask_instance_groups_on_launch: true });
  const [group] = await test.database.rows<Row>(sql`SELECT id, name FROM instance_groups`);
  const url = `job_templates/${template.id}/`;
  await test.as.superuser.post(`${url}instance_groups/`, { id: group!.id }).expect(204);
  const { body } = await test.as.superuser.get(`${url}launch/`).expect(200);
  expect(body.defaults.instance_groups).toEqual([group]);
});

describe('survey', () => {
  it('is validated and merged, and its secrets stay encrypted', async () => {
    const template = await makeTemplate({ extra_vars: 'who: nobody\nkeep: 1' });
    const survey = {
      name: 'S',
      description: 'D',
      spec: [
        { question_name: 'Who', variable: 'who', type: 'text', required: true },
        { question_name: 'Pin', variable: 'pin', type: 'password', default: 'canary-default' },
      ],
    };
    await test.as.superuser.post(`job_templates/${template.id}/survey_spec/`, survey).expect(200);
    await test.as.superuser
      .patch(`job_templates/${template.id}/`, { survey_enabled: true })
      .expect(200);
    const needs = await test.as.superuser.get(`job_templates/${template.id}/launch/`).expect(200);
    expect(needs.body).toMatchObject({ survey_enabled: true, variables_needed_to_start: ['who'] });
    const missing = await launch(template).expect(400);
    expect(missing.body).toEqual({ variables_needed_to_start: ["'who' value missing"] });
    const extra_vars = { who: 'me', pin: 'canary-answer', other: 1 };
    const { body } = await launch(template, { extra_vars: JSON.stringify(extra_vars) }).expect(201);
    expect(body.ignored_fields).toEqual({ extra_vars: { other: 1 } });
    expect(JSON.parse(body.extra_vars)).toEqual({ who: 'me', keep: 1, pin: '$encrypted$' });
    const dump = await test.database.rows(sql`
      SELECT row_to_json(t)::text AS text FROM unified_jobs t WHERE id = ${body.id}
      UNION ALL SELECT row_to_json(t)::text FROM unified_job_templates t WHERE id = ${template.id}
      UNION ALL SELECT row_to_json(t)::text FROM activity_stream t`);
    expect(JSON.stringify(dump)).not.toMatch(/canary/);
  });
});

const RIGHTS: Record<PersonaName, readonly [needs: number, launch: number]> = {
  superuser: [200, 201],
  auditor: [200, 403],
  orgAdmin: [200, 201],
  orgMember: [403, 403],
  teamAdmin: [200, 403],
  teamMember: [200, 201],
  outsider: [403, 403],
  nobody: [403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [needs, launched] = RIGHTS[name];

  it(`gets ${needs} asking and ${launched} launching`, async () => {
    const { as, make, home } = test;
    const project = await make.project({ organization: home.organization.id });
    const template = await makeTemplate({ project: project.id });
    await make.grant('job_template', template, 'read_role', { user: as.users.teamAdmin });
    await make.grant('job_template', template, 'execute_role', { user: as.users.teamMember });
    await as[name].get(`job_templates/${template.id}/launch/`).expect(needs);
    await launch(template, {}, name).expect(launched);
  });
});

it('a launch requires use on prompted objects, and not on those of the template', async () => {
  const { as, make } = test;
  const template = await makeTemplate({
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
  });
  const own = await make.credential();
  await as.superuser.post(`job_templates/${template.id}/credentials/`, { id: own.id }).expect(204);
  await make.grant('job_template', template, 'execute_role', { user: as.users.nobody });
  const other = await make.inventory();
  const vault = await make.credential({ namespace: 'vault' });
  await launch(template, { inventory: other.id }, 'nobody').expect(403);
  await launch(template, { credentials: [own.id, vault.id] }, 'nobody').expect(403);
  await launch(template, { inventory: inventory.id, credentials: [own.id] }, 'nobody').expect(201);
  await make.grant('inventory', other, 'use_role', { user: as.users.nobody });
  await launch(template, { inventory: other.id }, 'nobody').expect(201);
});

it('unknown templates return 404, and OPTIONS describes the launch fields', async () => {
  await test.as.superuser.post('job_templates/999999/launch/', {}).expect(404);
  await test.as.anonymous.post('job_templates/999999/launch/', {}).expect(401);
  for (const path of [
    'job_templates/999999/launch/',
    `job_templates/${(await makeTemplate()).id}/launch/`,
  ]) {
    const { body, headers } = await test.as.superuser.options(path).expect(200);
    expect(headers.allow).toBe('GET, POST, HEAD, OPTIONS');
    expect(body.actions.POST).toMatchObject({
      inventory: { type: 'id' },
      credentials: { type: 'list_of_ids' },
      limit: { type: 'string' },
      credential_passwords: { type: 'json' },
    });
  }
});
