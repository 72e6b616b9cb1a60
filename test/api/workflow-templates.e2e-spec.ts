import type { Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { sql } from '../../src/database/sql.js';
import { ApprovalTemplates } from '../../src/workflow-templates/approval-templates.service.js';
import { workflowJobTemplateNodes } from '../../src/workflow-templates/workflow-job-template-nodes.resource.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
let organization: number;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
});
afterAll(() => test.close());

let counter = 0;
const fieldsOf = (fields: object = {}): Record<string, unknown> => ({
  name: `Flow ${(counter += 1)}`,
  organization,
  ...fields,
});
const makeWorkflow = (fields: object = {}): Promise<Row> =>
  test.make.row('workflow_job_template', fieldsOf(fields));

const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, key: number, remove: number]
> = {
  superuser: [200, 200, 201, 200, 204],
  auditor: [200, 403, 403, 403, 403],
  orgAdmin: [200, 200, 201, 200, 204],
  orgMember: [403, 403, 403, 403, 403],
  // Admin of the template, and nothing on its organization.
  teamAdmin: [200, 200, 403, 200, 204],
  teamMember: [200, 403, 403, 403, 403],
  outsider: [403, 403, 403, 403, 403],
  // May only approve.
  nobody: [200, 403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, key, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding, ${key} for the key, ${remove} deleting`, async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow({ webhook_service: 'service_a' });
    const type = 'workflow_job_template';
    await make.grant(type, workflow, 'admin_role', { user: as.users.teamAdmin });
    await make.grant(type, workflow, 'execute_role', { user: as.users.teamMember });
    await make.grant(type, workflow, 'approval_role', { user: as.users.nobody });
    const url = `workflow_job_templates/${workflow.id}/`;
    await as[name].get(url).expect(read);
    await as[name].get(`${url}launch/`).expect(read);
    await as[name].patch(url, { limit: name }).expect(change);
    await as[name].post('workflow_job_templates/', fieldsOf()).expect(add);
    await as[name].get(`${url}webhook_key/`).expect(key);
    await as[name].post(`${url}webhook_key/`).expect(key === 200 ? 201 : 403);
    await as[name].get(`${url}survey_spec/`).expect(read);
    const spec = [{ question_name: 'Q', variable: 'q', type: 'text' }];
    const survey = { name: '', description: '', spec };
    await as[name].post(`${url}survey_spec/`, survey).expect(change);
    await as[name].delete(`${url}survey_spec/`).expect(change);
    await as[name].delete(url).expect(remove);
  });
});

it('workflow admins of the organization manage a template, by every role of the table', async () => {
  const { as, make, home } = test;
  const workflow = await makeWorkflow();
  const url = `workflow_job_templates/${workflow.id}/`;
  const may = async (field: string): Promise<object> => {
    const user = await make.user();
    await make.grant('organization', home.organization, field, { user });
    const client = await as.asUser(user);
    const { status, body } = await client.get(url);
    const added = await client.post('workflow_job_templates/', fieldsOf());
    const { edit, start } = status === 200 ? body.summary_fields.user_capabilities : {};
    return { status, edit, start, added: added.status };
  };
  expect(await may('workflow_admin_role')).toEqual({
    status: 200,
    edit: true,
    start: true,
    added: 201,
  });
  expect(await may('execute_role')).toEqual({ status: 200, edit: false, start: true, added: 403 });
  expect(await may('approval_role')).toEqual({
    status: 200,
    edit: false,
    start: false,
    added: 403,
  });
  expect(await may('auditor_role')).toEqual({ status: 200, edit: false, start: false, added: 403 });
  expect(await may('job_template_admin_role')).toMatchObject({ status: 403, added: 403 });
  const { body } = await as.orgAdmin.get(url).expect(200);
  expect(Object.keys(body.summary_fields.object_roles).sort()).toEqual([
    'admin_role',
    'approval_role',
    'execute_role',
    'read_role',
  ]);
});

describe('creating', () => {
  it('shows the complete template', async () => {
    const { as } = test;
    const { body, headers } = await as.orgAdmin
      .post('workflow_job_templates/', fieldsOf({ extra_vars: { a: 1 } }))
      .expect(201);
    const url = `/api/v2/workflow_job_templates/${body.id}/`;
    expect(headers.location).toBe(url);
    expect(body).toMatchObject({
      type: 'workflow_job_template',
      url,
      extra_vars: '{"a": 1}',
      inventory: null,
      limit: null,
      scm_branch: null,
      job_tags: null,
      skip_tags: null,
      allow_simultaneous: false,
      survey_enabled: false,
      webhook_service: '',
      webhook_credential: null,
      status: 'never updated',
      last_job_run: null,
      last_job_failed: false,
      next_job_run: null,
    });
    expect(body).not.toHaveProperty('execution_environment');
    expect(body).not.toHaveProperty('webhook_key');
    for (const name of [
      'workflow_jobs',
      'launch',
      'webhook_key',
      'workflow_nodes',
      'labels',
      'activity_stream',
      'notification_templates_started',
      'notification_templates_success',
      'notification_templates_error',
      'notification_templates_approvals',
      'access_list',
      'object_roles',
      'survey_spec',
      'copy',
    ]) {
      expect(body.related[name]).toBe(`${url}${name}/`);
      await as.orgAdmin.get(body.related[name]).expect(200);
    }
    expect(body.summary_fields).toMatchObject({
      organization: { id: organization },
      labels: { count: 0, results: [] },
      recent_jobs: [],
      user_capabilities: { edit: true, delete: true, start: true, schedule: true, copy: true },
    });
  });

  it('requires an organization, and use on the inventory', async () => {
    const { as, make, home } = test;
    const inventory = (await make.inventory({ organization })).id;
    const user = await make.user();
    await make.grant('organization', home.organization, 'workflow_admin_role', { user });
    const client = await as.asUser(user);
    const without = await client
      .post('workflow_job_templates/', fieldsOf({ organization: null }))
      .expect(403);
    expect(without.body).toEqual({
      detail: 'An organization is required to create a workflow job template for normal user',
    });
    const refused = await client
      .post('workflow_job_templates/', fieldsOf({ inventory }))
      .expect(403);
    expect(refused.body).toEqual({ detail: 'You do not have use_role to the inventory' });
    await as.superuser
      .post('workflow_job_templates/', fieldsOf({ organization: null }))
      .expect(201);
    const elsewhere = { organization: home.otherOrganization.id };
    await client.post('workflow_job_templates/', fieldsOf(elsewhere)).expect(403);
    const workflow = await makeWorkflow();
    await client.patch(`workflow_job_templates/${workflow.id}/`, { inventory }).expect(403);
    await client.patch(`workflow_job_templates/${workflow.id}/`, elsewhere).expect(403);
  });

  it('requires a unique name in an organization, also among job templates', async () => {
    const { make, as } = test;
    const project = (await make.project({ organization })).id;
    const template = await make.jobTemplate({ project });
    const fields = fieldsOf({ name: template.name });
    await as.superuser.post('workflow_job_templates/', fields).expect(201);
    const { body } = await as.superuser.post('workflow_job_templates/', fields).expect(400);
    expect(body).toEqual({
      __all__: ['WorkflowJobTemplate with this (name, organization) combination already exists.'],
    });
  });

  it('works below the organization too, and by name', async () => {
    const { as } = test;
    const path = `organizations/${organization}/workflow_job_templates/`;
    const { name } = fieldsOf();
    const { body } = await as.orgAdmin.post(path, { name }).expect(201);
    expect(body.organization).toBe(organization);
    const found = await as.orgAdmin
      .get(`${path}?name=${encodeURIComponent(String(name))}`)
      .expect(200);
    expect(found.body.count).toBe(1);
    const key = `${encodeURIComponent(String(name))}++Home`;
    const named = await as.orgAdmin.get(`workflow_job_templates/${key}/`).expect(200);
    expect(named.body.id).toBe(body.id);
  });

  it.each<[string, object, object]>([
    ['variables', { extra_vars: '[' }, { extra_vars: [expect.stringContaining('Cannot parse')] }],
    ['service', { webhook_service: 'x' }, { webhook_service: ['"x" is not a valid choice.'] }],
    [
      'filters',
      { webhook_filters: { no: 1 } },
      { webhook_filters: [expect.stringContaining('no')] },
    ],
    ['branch', { scm_branch: '-x' }, { scm_branch: [expect.any(String)] }],
    [
      'inventory',
      { inventory: 999999 },
      { inventory: ['Invalid pk "999999" - object does not exist.'] },
    ],
  ])('refuses a wrong %s', async (_name, fields, errors) => {
    const { body } = await test.as.superuser
      .post('workflow_job_templates/', fieldsOf(fields))
      .expect(400);
    expect(body).toEqual(errors);
  });
});

it('a deletion removes nodes and approvals, keeps runs, and is refused with active runs', async () => {
  const { as, make, database } = test;
  const workflow = await makeWorkflow();
  const node = await make.workflowNode(workflow);
  const approval = await as.superuser
    .post(`workflow_job_template_nodes/${node.id}/create_approval_template/`, { name: 'Go?' })
    .expect(201);
  const url = `workflow_job_templates/${workflow.id}/`;
  const launched = await as.superuser.post(`${url}launch/`).expect(201);
  const { body } = await as.superuser.delete(url).expect(409);
  expect(body).toEqual(inUse({ id: launched.body.id as number, type: 'workflow_job' }));
  await database.execute(
    sql`UPDATE unified_jobs SET status = 'successful' WHERE id = ${launched.body.id}`,
  );
  await as.superuser.delete(url).expect(204);
  await as.superuser.get(`workflow_job_template_nodes/${node.id}/`).expect(404);
  await as.superuser.get(approval.body.url).expect(404);
  const run = await as.superuser.get(launched.body.url).expect(200);
  expect(run.body.unified_job_template).toBeNull();
});

it('a deletion removes an approval that another request adds at the same time', async () => {
  const { app, as, make, database } = test;
  const workflow = await makeWorkflow();
  const { id } = await make.workflowNode(workflow);
  const resources = app.get(ResourceService, { strict: false });
  const approvals = app.get(ApprovalTemplates, { strict: false });
  const actor = {
    id: as.users.superuser.id,
    username: '',
    isSuperuser: true,
    isSystemAuditor: false,
  };
  let approval: Row | undefined;
  await interleave(database, [
    async () => {
      const node = await resources.lock(workflowJobTemplateNodes, { id }, actor);
      approval = await make.row('workflow_approval_template', { name: 'Go?' });
      await approvals.assign(node, approval);
    },
    async () => as.superuser.delete(`workflow_job_templates/${workflow.id}/`).expect(204),
    async () => undefined,
  ]);
  await as.superuser.get(`workflow_approval_templates/${approval!.id}/`).expect(404);
});

it('a page asks what to do with a step whose template was deleted', async () => {
  const { as, make } = test;
  const workflow = await makeWorkflow();
  const template = await make.jobTemplate();
  const node = await make.workflowNode(workflow, { unified_job_template: template.id });
  await as.superuser.delete(`job_templates/${template.id}/`).expect(204);
  const url = `workflow_job_templates/${workflow.id}/?_with.node=${node.id}`;
  const page = await as.superuser.get(url).set('Accept', 'text/html').expect(200);
  const [, step] = page.text.split('The step has no template.');
  expect(step).toMatch(/value="PATCH"[^]*name="unified_job_template"[^]*Save[^]*Approval text/);
});

it('the unified list contains workflow templates, and no approvals', async () => {
  const { as, make } = test;
  const workflow = await makeWorkflow();
  const node = await make.workflowNode(workflow);
  const { body: approval } = await as.superuser
    .post(`workflow_job_template_nodes/${node.id}/create_approval_template/`, { name: 'Go?' })
    .expect(201);
  const ids = async (client: typeof as.superuser, query: string): Promise<number[]> => {
    const { body } = await client.get(`unified_job_templates/?${query}`).expect(200);
    expect(body.results).toHaveLength(body.count);
    return body.results.map(({ id }: Row) => id);
  };
  const both = `id__in=${workflow.id},${approval.id}`;
  expect(await ids(as.superuser, both)).toEqual([workflow.id]);
  expect(await ids(as.orgAdmin, both)).toEqual([workflow.id]);
  expect(await ids(as.orgMember, both)).toEqual([]);
  expect(await ids(as.superuser, `id=${approval.id}`)).toEqual([]);
  expect(await ids(as.superuser, `type=workflow_job_template&id=${workflow.id}`)).toHaveLength(1);
});

it('readers of a template see its runs', async () => {
  const { as, make } = test;
  const workflow = await makeWorkflow();
  const { body } = await as.superuser
    .post(`workflow_job_templates/${workflow.id}/launch/`)
    .expect(201);
  const seen = async (client: typeof as.nobody): Promise<number[]> => {
    const one = await client.get(body.url);
    const nodes = await client.get(`${body.url}workflow_nodes/`);
    const lists = await Promise.all(
      ['workflow_jobs', 'unified_jobs'].map((path) => client.get(`${path}/?id=${body.id}`)),
    );
    return [one.status, nodes.status, ...lists.map((list) => list.body.count as number)];
  };
  expect(await seen(as.nobody)).toEqual([403, 403, 0, 0]);
  await make.grant('workflow_job_template', workflow, 'read_role', { user: as.users.nobody });
  expect(await seen(as.nobody)).toEqual([200, 200, 1, 1]);
  const { body: runs } = await as.nobody
    .get(`workflow_job_templates/${workflow.id}/workflow_jobs/`)
    .expect(200);
  expect(runs.results.map(({ id }: Row) => id)).toEqual([body.id]);
  const shown = await as.nobody.get(`workflow_job_templates/${workflow.id}/`).expect(200);
  expect(shown.body.summary_fields.recent_jobs).toMatchObject([
    { id: body.id, type: 'workflow_job', status: 'pending' },
  ]);
  expect(shown.body.related.current_job).toBe(body.url);
});

it('labels and notification templates can be attached', async () => {
  const { as, make } = test;
  const workflow = await makeWorkflow();
  const url = `workflow_job_templates/${workflow.id}/`;
  await as.orgAdmin.post(`${url}labels/`, { name: 'blue', organization }).expect(201);
  const { id } = await make.notificationTemplate({ organization });
  for (const event of ['started', 'success', 'error', 'approvals']) {
    await as.orgAdmin.post(`${url}notification_templates_${event}/`, { id }).expect(204);
    const { body } = await as.orgAdmin.get(`${url}notification_templates_${event}/`).expect(200);
    expect(body.count).toBe(1);
  }
  const { body } = await as.orgAdmin.get(url).expect(200);
  expect(body.summary_fields.labels).toMatchObject({ count: 1, results: [{ name: 'blue' }] });
});

it('the webhook key is created and deleted with the service', async () => {
  const { as } = test;
  const workflow = await makeWorkflow();
  const url = `workflow_job_templates/${workflow.id}/`;
  const keyOf = async (): Promise<string> =>
    (await as.superuser.get(`${url}webhook_key/`).expect(200)).body.webhook_key;
  expect(await keyOf()).toBe('');
  await as.superuser.post(`${url}webhook_key/`).expect(400);
  const { body: plain } = await as.superuser.get(url).expect(200);
  expect(plain.related.webhook_receiver).toBe('');
  const { body } = await as.superuser.patch(url, { webhook_service: 'service_a' }).expect(200);
  expect(body.related.webhook_receiver).toBe(`/api/v2/${url}service_a/`);
  const first = await keyOf();
  expect(first).toMatch(/^[A-Za-z0-9]{50}$/);
  await as.superuser.patch(url, { webhook_service: 'service_b' }).expect(200);
  expect(await keyOf()).not.toBe(first);
  const token = await test.make.credential({
    namespace: 'service_a_token',
    inputs: { token: 't' },
  });
  const mismatch = await as.superuser.patch(url, { webhook_credential: token.id }).expect(400);
  expect(mismatch.body).toEqual({
    webhook_credential: ['Must match the selected webhook service.'],
  });
  await as.superuser.patch(url, { webhook_service: '' }).expect(200);
  expect(await keyOf()).toBe('');
});
