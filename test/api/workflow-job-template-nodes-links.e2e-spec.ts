import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let organization: number;
let template: Row;
let workflow: Row;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  const project = (await test.make.project({ organization })).id;
  const inventory = (await test.make.inventory({ organization })).id;
  template = await test.make.jobTemplate({ project, inventory, ask_credential_on_launch: true });
  workflow = await test.make.workflowTemplate({ organization });
});
afterAll(() => test.close());

const urlOf = ({ id }: Pick<Row, 'id'>): string => `workflow_job_template_nodes/${id}/`;
const nodeOf = (of: Row | null): Promise<Row> =>
  test.make.workflowNode(workflow, { unified_job_template: of?.id ?? null });

describe('credentials', () => {
  const attach = (node: Row, { id }: Row) =>
    test.as.superuser.post(`${urlOf(node)}credentials/`, { id });
  const refusal = async (node: Row, credential: Row): Promise<string> =>
    (await attach(node, credential).expect(400)).body.detail;

  it('must be accepted by a launch', async () => {
    const { make } = test;
    const machine = await make.credential({ organization });
    const node = await nodeOf(template);
    expect(await refusal(await nodeOf(null), machine)).toBe(
      'Cannot assign credential when related template is null.',
    );
    const inner = await make.workflowTemplate({ organization });
    expect(await refusal(await nodeOf(inner), machine)).toBe(
      'Related template cannot accept credentials on launch.',
    );
    const asking = await make.credential({ organization, inputs: { password: 'ASK' } });
    expect(await refusal(node, asking)).toBe(
      'Credential that requires user input on launch cannot be used in saved launch configuration.',
    );
    const closed = await make.jobTemplate({
      project: template.project_id,
      inventory: template.inventory_id,
    });
    expect(await refusal(await nodeOf(closed), machine)).toBe(
      'Related template is not configured to accept credentials on launch.',
    );
    const scm = await make.credential({ organization, namespace: 'scm' });
    expect(await refusal(node, scm)).toBe('Cannot assign a Credential of kind `scm`.');
    await attach(node, machine).expect(204);
    await attach(node, machine).expect(204);
    expect(await refusal(node, await make.credential({ organization }))).toBe(
      'This launch configuration already provides a Machine credential.',
    );
    const { body } = await test.as.superuser.get(`${urlOf(node)}credentials/`).expect(200);
    expect(body.results.map(({ id }: Row) => id)).toEqual([machine.id]);
  });

  it('must not be attached to the template already', async () => {
    const { make, as } = test;
    const own = await make.credential({ organization, name: 'Own' });
    const other = await make.jobTemplate({
      project: template.project_id,
      inventory: template.inventory_id,
      ask_credential_on_launch: true,
    });
    await as.superuser.post(`job_templates/${other.id}/credentials/`, { id: own.id }).expect(204);
    expect(await refusal(await nodeOf(other), own)).toBe(
      'Related template already uses Own credential.',
    );
  });

  it('require use by the user who attaches them', async () => {
    const { make, as } = test;
    const credential = await make.credential({ organization });
    const node = await nodeOf(template);
    await make.grant('workflow_job_template', workflow, 'admin_role', { user: as.users.nobody });
    const tie = () => as.nobody.post(`${urlOf(node)}credentials/`, { id: credential.id });
    await tie().expect(403);
    await test.database.execute(sql`
      INSERT INTO role_members (role_id, user_id)
      SELECT id, ${as.users.nobody.id} FROM roles WHERE content_type = 'credential'
        AND object_id = ${credential.id} AND role_field = 'use_role' ON CONFLICT DO NOTHING`);
    await tie().expect(204);
  });

  it('of one kind: two simultaneous requests leave one', async () => {
    const { make } = test;
    const node = await nodeOf(template);
    const two = [await make.credential({ organization }), await make.credential({ organization })];
    const answers = await Promise.all(two.map((one) => attach(node, one)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
  });
});

it('labels and instance groups are attached and detached', async () => {
  const { as, database } = test;
  const node = await nodeOf(template);
  const labels = `${urlOf(node)}labels/`;
  const { body: label } = await as.superuser
    .post(labels, { name: 'of a node', organization })
    .expect(201);
  expect((await as.superuser.get(labels)).body.count).toBe(1);
  const again = await as.superuser.post(labels, { name: 'of a node', organization });
  expect(again.status).toBe(204);
  await as.superuser.post(labels, { id: label.id, disassociate: true }).expect(204);
  await as.superuser.get(label.url).expect(404);
  const group = await database.row<{ id: number }>(sql`SELECT id FROM instance_groups`);
  const groups = `${urlOf(node)}instance_groups/`;
  await as.superuser.post(groups, { id: group!.id }).expect(204);
  expect((await as.superuser.get(groups)).body.count).toBe(1);
});

describe('approvals', () => {
  const create = (node: Row, fields: object) =>
    test.as.superuser.post(`${urlOf(node)}create_approval_template/`, fields);

  it('replace the template of the node', async () => {
    const { as, make } = test;
    const open = await make.jobTemplate({
      project: template.project_id,
      inventory: template.inventory_id,
      ask_limit_on_launch: true,
    });
    const node = await make.workflowNode(workflow, { unified_job_template: open.id, limit: 'x' });
    const { body, headers } = await create(node, { name: 'Go live?', timeout: 60 }).expect(201);
    const url = `/api/v2/workflow_approval_templates/${body.id}/`;
    expect(headers.location).toBe(url);
    expect(body).toMatchObject({
      type: 'workflow_approval_template',
      url,
      name: 'Go live?',
      description: '',
      timeout: 60,
      status: 'never updated',
    });
    expect(body.related.workflow_job_template).toBe(
      `/api/v2/workflow_job_templates/${workflow.id}/`,
    );
    const shown = await as.superuser.get(urlOf(node)).expect(200);
    expect(shown.body).toMatchObject({ unified_job_template: body.id, limit: null });
    expect(shown.body.related.unified_job_template).toBe(url);
    expect(shown.body.summary_fields.unified_job_template).toMatchObject({
      id: body.id,
      name: 'Go live?',
      timeout: 60,
      unified_job_type: 'workflow_approval',
    });
    const changed = await as.superuser.patch(url, { timeout: 0, description: 'd' }).expect(200);
    expect(changed.body).toMatchObject({ timeout: 0, description: 'd', name: 'Go live?' });
    await as.superuser.put(url, { name: 'Sure?' }).expect(200);
    const next = await create(node, { name: 'Go live?' }).expect(201);
    await as.superuser.get(url).expect(404);
    await as.superuser.delete(next.body.url).expect(204);
    const empty = await as.superuser.get(urlOf(node)).expect(200);
    expect(empty.body.unified_job_template).toBeNull();
  });

  it('may have the same name in several workflows', async () => {
    await create(await nodeOf(null), { name: 'Twice?' }).expect(201);
    await create(await nodeOf(null), { name: 'Twice?' }).expect(201);
  });

  it.each<[string, object, object]>([
    ['no name', {}, { name: ['This field is required.'] }],
    ['an empty name', { name: '' }, { name: ['This field may not be blank.'] }],
    [
      'a time before now',
      { name: 'x', timeout: -1 },
      { timeout: ['Ensure this value is greater than or equal to 0.'] },
    ],
  ])('are refused with %s', async (_name, fields, errors) => {
    const { body } = await create(await nodeOf(null), fields).expect(400);
    expect(body).toEqual(errors);
  });

  it('belong to one node', async () => {
    const { as } = test;
    const { body } = await create(await nodeOf(null), { name: 'Mine' }).expect(201);
    const node = await nodeOf(null);
    const stolen = await as.superuser
      .patch(urlOf(node), { unified_job_template: body.id })
      .expect(400);
    expect(stolen.body).toEqual({
      unified_job_template: ['An approval template belongs to the node that it was created for.'],
    });
  });

  it('are changed by admins of the workflow and visible to its readers', async () => {
    const { as, make } = test;
    const own = await make.workflowTemplate({ organization });
    const node = await make.workflowNode(own);
    const path = `${urlOf(node)}create_approval_template/`;
    await make.grant('workflow_job_template', own, 'approval_role', { user: as.users.teamMember });
    await make.grant('workflow_job_template', own, 'admin_role', { user: as.users.teamAdmin });
    await as.teamMember.post(path, { name: 'x' }).expect(403);
    await as.outsider.post(path, { name: 'x' }).expect(403);
    const { body } = await as.teamAdmin.post(path, { name: 'x' }).expect(201);
    await as.teamMember.get(body.url).expect(200);
    await as.teamMember.patch(body.url, { name: 'y' }).expect(403);
    await as.outsider.get(body.url).expect(403);
    await as.teamAdmin.patch(body.url, { name: 'y' }).expect(200);
    // The administrator of the node needs no role on the approval, which has no roles.
    await as.teamAdmin.patch(urlOf(node), { identifier: 'renamed' }).expect(200);
    await as.teamAdmin.delete(body.url).expect(204);
  });

  it('are denied with their node, and pending ones prevent the deletion of their template', async () => {
    const { as, database } = test;
    const node = await nodeOf(null);
    const { body } = await create(node, { name: 'Waiting' }).expect(201);
    const waiting = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id)
      VALUES ('workflow_approval', 'Waiting', 'pending', ${body.id}) RETURNING id`);
    const refused = await as.superuser.delete(body.url).expect(409);
    expect(refused.body).toEqual(inUse({ id: waiting!.id, type: 'workflow_approval' }));
    await as.superuser.delete(urlOf(node)).expect(204);
    await as.superuser.get(body.url).expect(404);
    const run = await database.row(sql`
      SELECT status, job_explanation FROM unified_jobs WHERE id = ${waiting!.id}`);
    expect(run).toEqual({
      status: 'failed',
      job_explanation: 'The approval was denied because its node was removed from the workflow.',
    });
  });
});
