import type { Row } from '../../src/common/resource/define-resource.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let project: Row;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  const owned = { organization: test.home.organization.id };
  project = await test.make.project(owned);
  inventory = await test.make.inventory(owned);
});
afterAll(() => test.close());

let counter = 0;
const fieldsOf = (fields: object = {}): object => ({
  name: `Template ${(counter += 1)}`,
  project: project.id,
  inventory: inventory.id,
  playbook: 'site.yml',
  ...fields,
});
const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.row('job_template', fieldsOf(fields) as Record<string, unknown>);

const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, key: number, remove: number]
> = {
  superuser: [200, 200, 201, 200, 204],
  auditor: [200, 403, 403, 403, 403],
  orgAdmin: [200, 200, 201, 200, 204],
  orgMember: [403, 403, 403, 403, 403],
  // Admin of the template without `use` on its project: may not change what runs.
  teamAdmin: [200, 200, 403, 200, 204],
  teamMember: [200, 403, 403, 403, 403],
  outsider: [403, 403, 403, 403, 403],
  nobody: [403, 403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, key, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding, ${key} for the key, ${remove} deleting`, async () => {
    const { as, make } = test;
    const template = await makeTemplate({ webhook_service: 'service_a' });
    await make.grant('job_template', template, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('job_template', template, 'execute_role', { user: as.users.teamMember });
    const url = `job_templates/${template.id}/`;
    await as[name].get(url).expect(read);
    await as[name].patch(url, { limit: name }).expect(change);
    await as[name].post('job_templates/', fieldsOf()).expect(add);
    await as[name].get(`${url}webhook_key/`).expect(key);
    await as[name].post(`${url}webhook_key/`).expect(key === 200 ? 201 : 403);
    await as[name].get(`${url}survey_spec/`).expect(read);
    const survey = {
      name: '',
      description: '',
      spec: [{ question_name: 'Q', variable: 'q', type: 'text' }],
    };
    await as[name].post(`${url}survey_spec/`, survey).expect(change);
    await as[name].delete(`${url}survey_spec/`).expect(change);
    await as[name].delete(url).expect(remove);
  });
});

it('a change of the playbook, the project or the inventory requires use on project and inventory', async () => {
  const { as, make } = test;
  const template = await makeTemplate();
  const url = `job_templates/${template.id}/`;
  const user = await make.user();
  const owner = await as.asUser(user);
  await make.grant('job_template', template, 'admin_role', { user });
  await owner.patch(url, { description: 'x', forks: 2 }).expect(200);
  await owner.patch(url, { playbook: 'other.yml' }).expect(403);
  await make.grant('project', project, 'use_role', { user });
  await owner.patch(url, { playbook: 'other.yml' }).expect(403);
  await make.grant('inventory', inventory, 'use_role', { user });
  await owner.patch(url, { playbook: 'other.yml' }).expect(200);
});

describe('validation', () => {
  it.each<[string, object, object]>([
    ['no project', { project: null }, { project: ['Job Templates must have a project assigned.'] }],
    ['no playbook', { playbook: '' }, { playbook: ['Must select playbook for project.'] }],
    [
      'no inventory',
      { inventory: null },
      { inventory: ['You must either set a default value or ask to prompt on launch.'] },
    ],
    [
      'callback without inventory',
      { inventory: null, ask_inventory_on_launch: true, host_config_key: 'k' },
      { host_config_key: ['Cannot enable provisioning callback without an inventory set.'] },
    ],
    ['forks', { forks: 201 }, { forks: ['Maximum number of forks (200) exceeded.'] }],
    [
      'branch',
      { scm_branch: 'x', ask_scm_branch_on_launch: true },
      {
        scm_branch: ['Project does not allow overriding branch.'],
        ask_scm_branch_on_launch: ['Project does not allow overriding branch.'],
      },
    ],
    ['service', { webhook_service: 'x' }, { webhook_service: ['"x" is not a valid choice.'] }],
    [
      'unknown project',
      { project: 999999 },
      { project: ['Invalid pk "999999" - object does not exist.'] },
    ],
    [
      'filters',
      { webhook_filters: { nonsense: 1 } },
      { webhook_filters: [expect.stringContaining('nonsense')] },
    ],
  ])('%s', async (_name, fields, errors) => {
    const { body } = await test.as.superuser.post('job_templates/', fieldsOf(fields)).expect(400);
    expect(body).toEqual(errors);
  });

  it('accepts a callback key with a default inventory that launches may override', async () => {
    const asks = { ask_inventory_on_launch: true, host_config_key: 'k' };
    const { body } = await test.as.superuser.post('job_templates/', fieldsOf(asks)).expect(201);
    expect(body).toMatchObject({ ...asks, inventory: expect.any(Number) });
  });

  it('requires a unique name in an organization', async () => {
    const template = await makeTemplate();
    const fields = fieldsOf({ name: template.name });
    const { body } = await test.as.superuser.post('job_templates/', fields).expect(400);
    expect(body).toEqual({
      __all__: ['JobTemplate with this (name, organization) combination already exists.'],
    });
  });

  it('accepts variables as an object and stores their text', async () => {
    const fields = fieldsOf({ extra_vars: { a: [1] } });
    const { body } = await test.as.superuser.post('job_templates/', fields).expect(201);
    expect(body.extra_vars).toBe('{"a": [1]}');
  });
});

describe('webhook', () => {
  const keyOf = async (template: Row): Promise<string> => {
    const { body } = await test.as.superuser
      .get(`job_templates/${template.id}/webhook_key/`)
      .expect(200);
    return body.webhook_key as string;
  };
  const patch = (template: Row, fields: object) =>
    test.as.superuser.patch(`job_templates/${template.id}/`, fields);

  it('key is created and deleted with the service', async () => {
    const template = await makeTemplate();
    expect(await keyOf(template)).toBe('');
    const rotate = () => test.as.superuser.post(`job_templates/${template.id}/webhook_key/`);
    await rotate().expect(400);
    const { body } = await patch(template, { webhook_service: 'service_a' }).expect(200);
    expect(body.related.webhook_receiver).toBe(`/api/v2/job_templates/${template.id}/service_a/`);
    const { body: plain } = await patch(await makeTemplate(), { description: 'x' }).expect(200);
    expect(plain.related.webhook_receiver).toBe('');
    expect(JSON.stringify(body)).not.toContain('$sealed$');
    const first = await keyOf(template);
    expect(first).toMatch(/^[A-Za-z0-9]{50}$/);
    await patch(template, { webhook_service: 'service_a', description: 'same' }).expect(200);
    expect(await keyOf(template)).toBe(first);
    await patch(template, { webhook_service: 'service_b' }).expect(200);
    const second = await keyOf(template);
    expect(second).not.toBe(first);
    const rotated = await rotate().expect(201);
    expect(rotated.body.webhook_key).not.toBe(second);
    expect(await keyOf(template)).toBe(rotated.body.webhook_key);
    await patch(template, { webhook_service: '' }).expect(200);
    expect(await keyOf(template)).toBe('');
  });

  it('key never appears in responses, filters or logs', async () => {
    const template = await makeTemplate({ webhook_service: 'service_c_dc' });
    await test.as.superuser.post(`job_templates/${template.id}/webhook_key/`).expect(201);
    const key = await keyOf(template);
    const url = `job_templates/${template.id}/`;
    const answers = await Promise.all(
      [url, `${url}activity_stream/`, `${url}jobs/`].map((path) => test.as.superuser.get(path)),
    );
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(key);
    await test.as.superuser.get(`job_templates/?webhook_key=${key}`).expect(403);
    const written = { webhook_key: 'mine' };
    await test.as.superuser.patch(url, written).expect(200);
    expect(await keyOf(template)).toBe(key);
  });

  it('credential must be a token of the service', async () => {
    const token = await test.make.credential({
      namespace: 'service_a_token',
      inputs: { token: 't' },
    });
    const machine = await test.make.credential();
    const template = await makeTemplate();
    const refused = async (fields: object, text: string): Promise<void> => {
      const { body } = await patch(template, fields).expect(400);
      expect(body).toEqual({ webhook_credential: [text] });
    };
    const mismatch = 'Must match the selected webhook service.';
    await refused({ webhook_credential: machine.id }, 'Must be a Personal Access Token.');
    await refused({ webhook_credential: token.id }, mismatch);
    await refused({ webhook_service: 'service_b', webhook_credential: token.id }, mismatch);
    const both = { webhook_service: 'service_a', webhook_credential: token.id };
    const { body } = await patch(template, both).expect(200);
    expect(body.summary_fields.webhook_credential).toMatchObject({ id: token.id });
    const key = await keyOf(template);
    await refused({ webhook_service: '' }, mismatch);
    await refused({ webhook_service: 'service_b' }, mismatch);
    await patch(template, { webhook_credential: null }).expect(200);
    expect(await keyOf(template)).toBe(key);
  });
});

describe('credentials/', () => {
  it('accepts one of each kind that a job can use, from users with use on it', async () => {
    const { as, make } = test;
    const template = await makeTemplate();
    const url = `job_templates/${template.id}/credentials/`;
    const [machine, second, scm, vault, named] = [
      await make.credential(),
      await make.credential(),
      await make.credential({ namespace: 'scm' }),
      await make.credential({ namespace: 'vault', inputs: { vault_password: 'x' } }),
      await make.credential({
        namespace: 'vault',
        inputs: { vault_password: 'x', vault_id: 'prod' },
      }),
    ];
    await make.grant('job_template', template, 'admin_role', { user: as.users.nobody });
    await as.nobody.post(url, { id: machine.id }).expect(403);
    await make.grant('credential', machine, 'use_role', { user: as.users.nobody });
    await as.nobody.post(url, { id: machine.id }).expect(204);
    await as.superuser.post(url, { id: machine.id }).expect(204);
    const other = await as.superuser.post(url, { id: second.id }).expect(400);
    expect(other.body).toEqual({ credentials: ['Cannot assign multiple Machine credentials.'] });
    const wrong = await as.superuser.post(url, { id: scm.id }).expect(400);
    expect(wrong.body).toEqual({ credentials: ['Cannot assign a Credential of kind `scm`.'] });
    await as.superuser.post(url, { id: vault.id }).expect(204);
    await as.superuser.post(url, { id: named.id }).expect(204);
    const shown = await as.superuser.get(`job_templates/${template.id}/`).expect(200);
    expect(shown.body.summary_fields.credentials).toEqual([
      { id: machine.id, name: machine.name, description: '', kind: 'ssh', cloud: false },
      expect.objectContaining({ id: vault.id, kind: 'vault' }),
      expect.objectContaining({ id: named.id }),
    ]);
    await as.superuser.post(url, { id: machine.id, disassociate: true }).expect(204);
    await as.superuser.post(url, { id: second.id }).expect(204);
  });
});

it('a survey is returned as it was sent, because clients compare it', async () => {
  const { as } = test;
  const url = `job_templates/${(await makeTemplate()).id}/survey_spec/`;
  const question = {
    question_name: 'How many?',
    question_description: '',
    required: false,
    type: 'integer',
    variable: 'count',
    min: 0,
    max: 1024,
    default: '',
    choices: '',
    new_question: true,
  };
  const survey = { name: '', description: '', spec: [question] };
  await as.superuser.post(url, survey).expect(200);
  const { body } = await as.superuser.get(url).expect(200);
  expect(body).toEqual(survey);
  const float = `{"question_name":"Q","type":"float","variable":"q","default":1.0}`;
  await as.superuser.post(url, `{"name":"","description":"","spec":[${float}]}`).expect(200);
  expect((await as.superuser.get(url).expect(200)).text).toContain('"default":1.0');
});

it('a copy has credentials and survey, and its own webhook key', async () => {
  const { as, make } = test;
  const template = await makeTemplate({ webhook_service: 'service_a' });
  const url = `job_templates/${template.id}/`;
  const credential = await make.credential();
  await as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
  const survey = {
    name: 'S',
    description: 'D',
    spec: [{ question_name: 'Q', variable: 'q', type: 'password', default: 'secret' }],
  };
  await as.superuser.post(`${url}survey_spec/`, survey).expect(200);
  const same = await as.superuser.post(`${url}copy/`, { name: template.name }).expect(400);
  expect(Object.keys(same.body)).toEqual(['name']);
  const refused = await as.orgAdmin.post(`${url}copy/`, { name: 'Copy' }).expect(403);
  expect(refused.body).toEqual({ detail: 'Insufficient access to Job Template credentials.' });
  const { body } = await as.superuser.post(`${url}copy/`, { name: 'Copy' }).expect(201);
  expect(body.summary_fields).toMatchObject({
    credentials: [{ id: credential.id }],
    survey: { title: 'S', description: 'D' },
  });
  const [key, copied] = await Promise.all(
    [url, `job_templates/${body.id}/`].map((path) => as.superuser.get(`${path}webhook_key/`)),
  );
  expect(copied!.body.webhook_key).toMatch(/^[A-Za-z0-9]{50}$/);
  expect(copied!.body.webhook_key).not.toBe(key!.body.webhook_key);
  await make.grant('job_template', template, 'read_role', { user: as.users.teamMember });
  const may = await as.teamMember.get(`${url}copy/`).expect(200);
  expect(may.body).toEqual({ can_copy: false });
});

it('a copy has the usable instance groups, and secrets for users who may change the original', async () => {
  const { as, make } = test;
  const template = await makeTemplate({ host_config_key: 'canary' });
  const url = `job_templates/${template.id}/`;
  const question = { question_name: 'Q', variable: 'q', type: 'password', default: 'secret' };
  await as.superuser
    .post(`${url}survey_spec/`, { name: '', description: '', spec: [question] })
    .expect(200);
  const group = await make.row('instance_group', { name: 'near production' });
  await as.superuser.post(`${url}instance_groups/`, { id: group.id }).expect(204);
  const user = await make.user();
  await make.grant('job_template', template, 'read_role', { user });
  await make.grant('project', { id: template.project_id } as Row, 'use_role', { user });
  await make.grant('inventory', { id: template.inventory_id } as Row, 'use_role', { user });
  const read = async (client: typeof as.nobody, name: string) => {
    const { body } = await client.post(`${url}copy/`, { name }).expect(201);
    const survey = await as.superuser.get(`job_templates/${body.id}/survey_spec/`).expect(200);
    const groups = await as.superuser.get(`job_templates/${body.id}/instance_groups/`).expect(200);
    return [body.host_config_key, survey.body.spec[0].default, groups.body.count];
  };
  expect(await read(await as.asUser(user), 'Copy of a reader')).toEqual(['', '', 0]);
  expect(await read(as.superuser, 'Copy of an administrator')).toEqual([
    ...['canary', '$encrypted$', 1],
  ]);
});

it('a template with active jobs cannot be deleted; its jobs outlive it', async () => {
  const { as } = test;
  const template = await makeTemplate();
  const url = `job_templates/${template.id}/`;
  const { body: job } = await as.superuser.post(`${url}launch/`, {}).expect(201);
  const { body } = await as.superuser.delete(url).expect(409);
  expect(body).toEqual(inUse({ id: job.id as number, type: 'job' }));
  await as.superuser.post(`jobs/${job.id}/cancel/`).expect(202);
  await as.superuser.delete(url).expect(204);
  const kept = await as.superuser.get(`jobs/${job.id}/`).expect(200);
  expect(kept.body).toMatchObject({ job_template: null, status: 'canceled', name: template.name });
});

it('the callback key is visible to users who may change the template, and links work', async () => {
  const { as, make } = test;
  const template = await makeTemplate({ host_config_key: 'canary' });
  await make.grant('job_template', template, 'read_role', { user: as.users.nobody });
  const url = `job_templates/${template.id}/`;
  const read = await as.nobody.get(url).expect(200);
  expect(read.body.host_config_key).toBe('$encrypted$');
  const { body } = await as.superuser.get(url).expect(200);
  expect(body.host_config_key).toBe('canary');
  expect(Object.keys(body.related)).toEqual(
    expect.arrayContaining([
      ...['jobs', 'activity_stream', 'launch', 'webhook_key', 'access_list'],
      ...['notification_templates_started', 'notification_templates_success', 'survey_spec'],
      ...['notification_templates_error', 'object_roles', 'copy', 'credentials', 'project'],
    ]),
  );
  for (const path of Object.values(body.related) as string[]) {
    await as.superuser.get(path).expect(200);
  }
});

it('a template moves with its project to another organization, with its roles', async () => {
  const { as, make, home } = test;
  const moving = await make.project({ organization: home.organization.id });
  const template = await makeTemplate({ project: moving.id });
  await as.outsider.get(`job_templates/${template.id}/`).expect(403);
  await make.grant('organization', home.otherOrganization, 'project_admin_role', {
    user: as.users.orgMember,
  });
  await make.grant('project', moving, 'admin_role', { user: as.users.orgMember });
  const move = { organization: home.otherOrganization.id };
  const refused = await as.orgMember.patch(`projects/${moving.id}/`, move).expect(400);
  expect(refused.body).toEqual({
    organization: ['Organization cannot be changed when in use by job templates.'],
  });
  await as.superuser.patch(`projects/${moving.id}/`, move).expect(200);
  const { body } = await as.outsider.get(`job_templates/${template.id}/`).expect(200);
  expect(body.organization).toBe(home.otherOrganization.id);
  await as.orgAdmin.patch(`job_templates/${template.id}/`, { description: 'Mine' }).expect(403);
});

it('fifty templates need as many statements as one', async () => {
  const { as, database } = test;
  for (let i = 0; i < 50; i++) {
    const template = await makeTemplate();
    if (i > 37) await as.superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
  }
  await samePageQueries(database, as.orgAdmin, 'job_templates/?order_by=-id', [1, 50]);
});
