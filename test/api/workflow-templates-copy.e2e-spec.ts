import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { WorkflowJobTemplateNodesRepository } from '../../src/workflow-templates/workflow-job-template-nodes.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { LOST_SECRET } from '../support/lost-key.js';
import { sameQueries } from '../support/queries.js';

let test: TestApp;
let organization: number;
let template: Row;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  inventory = await test.make.inventory({ organization });
  template = await test.make.jobTemplate({
    project: (await test.make.project({ organization })).id,
    inventory: inventory.id,
    ask_limit_on_launch: true,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
    ask_instance_groups_on_launch: true,
    ask_execution_environment_on_launch: true,
    survey_enabled: true,
  });
  const spec = [{ question_name: 'P', variable: 'p', type: 'password' }];
  await test.as.superuser
    .post(`job_templates/${template.id}/survey_spec/`, { name: '', description: '', spec })
    .expect(200);
});
afterAll(() => test.close());

const copyUrl = ({ id }: Row): string => `workflow_job_templates/${id}/copy/`;
let counter = 0;
const copy = async (workflow: Row, client: ApiClient = test.as.superuser): Promise<Row> => {
  const name = `Copy ${(counter += 1)}`;
  return (await client.post(copyUrl(workflow), { name }).expect(201)).body;
};
const nodesOf = async ({ id }: Row): Promise<Record<string, unknown>[]> => {
  const path = `workflow_job_templates/${id}/workflow_nodes/?order_by=identifier`;
  return (await test.as.superuser.get(path).expect(200)).body.results;
};
/** Creates a workflow a > b (on failure), with an approval c after a. */
const graph = async (fields: object = {}): Promise<Row> => {
  const { make, as } = test;
  const workflow = await make.workflowTemplate({ organization, limit: 'l', ...fields });
  const a = await make.workflowNode(workflow, {
    unified_job_template: template.id,
    identifier: 'a',
    limit: 'web',
    inventory: inventory.id,
    extra_data: { p: 'canary-copied' },
    all_parents_must_converge: true,
  });
  const url = `workflow_job_template_nodes/${a.id}/`;
  for (const [kind, identifier] of [
    ['failure', 'b'],
    ['always', 'c'],
  ]) {
    await as.superuser.post(`${url}${kind}_nodes/`, { identifier }).expect(201);
  }
  const [, , c] = await nodesOf(workflow);
  await as.superuser
    .post(`workflow_job_template_nodes/${String(c!.id)}/create_approval_template/`, {
      name: 'Go?',
      timeout: 5,
    })
    .expect(201);
  return workflow;
};

it('a copy has the same graph with all related objects', async () => {
  const { as, make } = test;
  const workflow = await graph({ extra_vars: 'a: 1', webhook_service: 'service_a' });
  const [a] = await nodesOf(workflow);
  const credential = await make.credential({ organization });
  const url = `workflow_job_template_nodes/${String(a!.id)}/`;
  await as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
  await as.superuser.post(`${url}labels/`, { name: 'on a node', organization }).expect(201);
  await as.superuser
    .post(`workflow_job_templates/${workflow.id}/labels/`, { name: 'on it', organization })
    .expect(201);
  const check = await as.superuser.get(copyUrl(workflow)).expect(200);
  expect(check.body).toEqual({
    can_copy: true,
    can_copy_without_user_input: true,
    templates_unable_to_copy: [],
    credentials_unable_to_copy: [],
    inventories_unable_to_copy: [],
  });
  const made = await copy(workflow);
  expect(made).toMatchObject({ limit: 'l', extra_vars: 'a: 1', webhook_service: 'service_a' });
  const keyOf = async ({ id }: Row): Promise<string> =>
    (await as.superuser.get(`workflow_job_templates/${id}/webhook_key/`)).body.webhook_key;
  expect(await keyOf(made)).toMatch(/^[A-Za-z0-9]{50}$/);
  expect(await keyOf(made)).not.toBe(await keyOf(workflow));
  const former = await nodesOf(workflow);
  const nodes = await nodesOf(made);
  const [first, second, third] = nodes;
  expect(nodes).toMatchObject([
    {
      identifier: 'a',
      unified_job_template: template.id,
      limit: 'web',
      inventory: inventory.id,
      extra_data: { p: '$encrypted$' },
      all_parents_must_converge: true,
      failure_nodes: [second!.id],
      always_nodes: [third!.id],
    },
    { identifier: 'b', unified_job_template: null },
    { identifier: 'c', summary_fields: { unified_job_template: { name: 'Go?', timeout: 5 } } },
  ]);
  expect(third!.unified_job_template).not.toBe(former[2]!.unified_job_template);
  const count = async (path: string): Promise<number> =>
    (await as.superuser.get(path).expect(200)).body.count;
  expect(await count(`workflow_job_template_nodes/${String(first!.id)}/credentials/`)).toBe(1);
  expect(await count(`workflow_job_template_nodes/${String(first!.id)}/labels/`)).toBe(1);
  expect(await count(`workflow_job_templates/${made.id}/labels/`)).toBe(1);
});

it('secret answers are encrypted for the copy', async () => {
  const made = await copy(await graph());
  const launched = await test.as.superuser
    .post(`workflow_job_templates/${made.id}/launch/`)
    .expect(201);
  const [row] = await test.database.rows(sql`
    SELECT launch_config::text AS config FROM unified_jobs WHERE id = ${launched.body.id}`);
  expect(row).toMatchObject({ config: expect.stringContaining('a/p') });
  expect(JSON.stringify(row)).not.toContain('canary-copied');
});

it('a copy omits objects that the user may not use, and lists them first', async () => {
  const { as, make, home } = test;
  const workflow = await graph({ inventory: inventory.id });
  const user = await make.user();
  const client = await as.asUser(user);
  await make.grant('workflow_job_template', workflow, 'read_role', { user });
  const none = await client.get(copyUrl(workflow)).expect(200);
  expect(none.body).toEqual({
    can_copy: false,
    can_copy_without_user_input: false,
    templates_unable_to_copy: ['all'],
    credentials_unable_to_copy: ['all'],
    inventories_unable_to_copy: ['all'],
  });
  await client.post(copyUrl(workflow), { name: 'mine' }).expect(403);
  await make.grant('organization', home.organization, 'workflow_admin_role', { user });
  await make.grant('inventory', inventory, 'read_role', { user });
  const partly = await client.get(copyUrl(workflow)).expect(200);
  expect(partly.body).toEqual({
    can_copy: true,
    can_copy_without_user_input: false,
    // A template that the user cannot read is listed by its id.
    templates_unable_to_copy: [`#${template.id}`],
    credentials_unable_to_copy: [],
    inventories_unable_to_copy: [inventory.name],
  });
  const made = await copy(workflow, client);
  expect(made.inventory).toBeNull();
  expect(await nodesOf(made)).toMatchObject([
    { identifier: 'a', unified_job_template: null, limit: null, inventory: null, extra_data: {} },
    { identifier: 'b' },
    { identifier: 'c', summary_fields: { unified_job_template: { name: 'Go?' } } },
  ]);
  await client.patch(`workflow_job_templates/${made.id}/`, { description: 'mine' }).expect(200);
});

it('a copy does not need the secret answers of a node that loses its template', async () => {
  const { as, database, make, home } = test;
  const workflow = await graph();
  await database.execute(sql`
    UPDATE workflow_job_template_nodes SET survey_passwords = ${JSON.stringify({ p: LOST_SECRET })}
    WHERE workflow_job_template_id = ${workflow.id} AND identifier = 'a'`);
  const user = await make.user();
  await make.grant('organization', home.organization, 'workflow_admin_role', { user });
  const [node] = await nodesOf(await copy(workflow, await as.asUser(user)));
  expect(node).toMatchObject({ unified_job_template: null, extra_data: {} });
});

it('a copied node has the instance groups and the environment that the user may use', async () => {
  const { as, make, home } = test;
  const workflow = await graph();
  const group = await make.row('instance_group', { name: 'near production' });
  const environment = await make.row('execution_environment', {
    ...{ name: 'Of others', image: 'registry.example/a:1' },
    organization: home.otherOrganization.id,
  });
  const [node] = await nodesOf(workflow);
  const url = `workflow_job_template_nodes/${String(node!.id)}/`;
  await as.superuser.patch(url, { execution_environment: environment.id }).expect(200);
  await as.superuser.post(`${url}instance_groups/`, { id: group.id }).expect(204);
  const user = await make.user();
  await make.grant('organization', home.organization, 'workflow_admin_role', { user });
  await make.grant('job_template', template, 'execute_role', { user });
  const copied = async (client: ApiClient): Promise<unknown[]> => {
    const [first] = await nodesOf(await copy(workflow, client));
    const path = `workflow_job_template_nodes/${String(first!.id)}/instance_groups/`;
    return [first!.execution_environment, (await as.superuser.get(path).expect(200)).body.count];
  };
  expect(await copied(as.superuser)).toEqual([environment.id, 1]);
  expect(await copied(await as.asUser(user))).toEqual([null, 0]);
});

it('a copy requires another name', async () => {
  const workflow = await graph();
  const { name } = workflow;
  const { body } = await test.as.superuser.post(copyUrl(workflow), { name }).expect(400);
  expect(body.name[0]).toContain('a copy from it cannot have the same name');
});

it('thirty nodes need as many statements as three', async () => {
  const small = await graph();
  const large = await graph();
  for (let count = 0; count < 27; count += 1) {
    await test.make.workflowNode(large, { unified_job_template: template.id, limit: 'x' });
  }
  await sameQueries(
    test.database,
    () => copy(small),
    () => copy(large),
  );
});

it('a workflow that is deleted during the check of its copy is not found', async () => {
  const workflow = await test.make.workflowTemplate({ organization });
  const nodes = test.app.get(WorkflowJobTemplateNodesRepository, { strict: false });
  jest.spyOn(nodes, 'toCopy').mockImplementationOnce(async () => {
    await test.as.superuser.delete(`workflow_job_templates/${workflow.id}/`).expect(204);
    return [];
  });
  await test.as.superuser.get(copyUrl(workflow)).expect(404);
});
