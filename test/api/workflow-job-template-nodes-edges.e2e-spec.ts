import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let organization: number;
/** Template without prompts. */
let closed: Row;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  closed = await test.make.jobTemplate({
    project: (await test.make.project({ organization })).id,
    inventory: (await test.make.inventory({ organization })).id,
  });
});
afterAll(() => test.close());

const NODES = 'workflow_job_template_nodes/';
const urlOf = ({ id }: Pick<Row, 'id'>): string => `${NODES}${id}/`;
const makeWorkflow = (): Promise<Row> => test.make.workflowTemplate({ organization });
const post = (workflow: Row, fields: object = {}) =>
  test.as.superuser.post(NODES, { workflow_job_template: workflow.id, ...fields });
const link = (parent: Row, kind: string, child: Row, extra: object = {}) =>
  test.as.superuser.post(`${urlOf(parent)}${kind}_nodes/`, { id: child.id, ...extra });

describe('edges', () => {
  const nodesOf = async (count: number): Promise<Row[]> => {
    const workflow = await makeWorkflow();
    const nodes: Row[] = [];
    while (nodes.length < count) nodes.push(await test.make.workflowNode(workflow));
    return nodes;
  };

  it('are created, shown, listed and removed', async () => {
    const [root, next, last] = (await nodesOf(3)) as [Row, Row, Row];
    await link(root, 'success', next).expect(204);
    await link(root, 'success', next).expect(204);
    await link(root, 'failure', last).expect(204);
    await link(next, 'always', last).expect(204);
    const { body } = await test.as.superuser.get(urlOf(root)).expect(200);
    expect(body).toMatchObject({
      success_nodes: [next.id],
      failure_nodes: [last.id],
      always_nodes: [],
    });
    const list = await test.as.superuser.get(`${urlOf(root)}success_nodes/`).expect(200);
    expect(list.body.results.map(({ id }: Row) => id)).toEqual([next.id]);
    await link(root, 'success', next, { disassociate: true }).expect(204);
    const after = await test.as.superuser.get(urlOf(root)).expect(200);
    expect(after.body.success_nodes).toEqual([]);
    await link(root, 'failure', next).expect(204);
  });

  it('create a node if the request names none', async () => {
    const [root] = (await nodesOf(1)) as [Row];
    const { body } = await test.as.superuser
      .post(`${urlOf(root)}always_nodes/`, { unified_job_template: closed.id, identifier: 'after' })
      .expect(201);
    expect(body.workflow_job_template).toBe(root.workflow_job_template_id);
    const shown = await test.as.superuser.get(urlOf(root)).expect(200);
    expect(shown.body.always_nodes).toEqual([body.id]);
    const refused = { unified_job_template: closed.id, limit: 'x' };
    await test.as.superuser.post(`${urlOf(root)}always_nodes/`, refused).expect(400);
  });

  it('never form a cycle or repeat a pair', async () => {
    const [a, b, c] = (await nodesOf(3)) as [Row, Row, Row];
    const cycle = { detail: 'Cycle detected.' };
    expect((await link(a, 'success', a).expect(400)).body).toEqual(cycle);
    await link(a, 'success', b).expect(204);
    await link(b, 'failure', c).expect(204);
    expect((await link(c, 'always', a).expect(400)).body).toEqual(cycle);
    expect((await link(b, 'always', a).expect(400)).body).toEqual(cycle);
    const twice = await link(a, 'always', b).expect(400);
    expect(twice.body).toEqual({ detail: 'Relationship not allowed.' });
    await link(a, 'failure', c).expect(204);
  });

  it('stay within a workflow', async () => {
    const [a] = (await nodesOf(1)) as [Row];
    const [other] = (await nodesOf(1)) as [Row];
    await link(a, 'success', other).expect(403);
    const missing = await link(a, 'success', { id: 999999 } as Row).expect(400);
    expect(missing.body).toEqual({
      detail: 'WorkflowJobTemplateNode matching query does not exist.',
    });
  });

  it('require admin on the workflow, and nothing else', async () => {
    const { as, make } = test;
    const workflow = await makeWorkflow();
    const [a, b] = [
      await make.workflowNode(workflow, { unified_job_template: closed.id }),
      await make.workflowNode(workflow, { unified_job_template: closed.id }),
    ];
    const tie = (client: typeof as.nobody) =>
      client.post(`${urlOf(a)}success_nodes/`, { id: b.id });
    await make.grant('workflow_job_template', workflow, 'execute_role', { user: as.users.nobody });
    await tie(as.nobody).expect(403);
    await make.grant('workflow_job_template', workflow, 'admin_role', { user: as.users.nobody });
    await tie(as.nobody).expect(204);
  });

  it('are refused if two simultaneous ones would form a cycle', async () => {
    for (let round = 0; round < 5; round += 1) {
      const nodes = await nodesOf(6);
      // Six edges that form a cycle; any five of them are valid.
      const answers = await Promise.all(
        nodes.map((node, index) => link(node, 'success', nodes[(index + 1) % 6]!)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([204, 204, 204, 204, 204, 400]);
    }
  });

  it('are deleted with their node', async () => {
    const [a, b] = (await nodesOf(2)) as [Row, Row];
    await link(a, 'success', b).expect(204);
    await test.as.superuser.delete(urlOf(b)).expect(204);
    const { body } = await test.as.superuser.get(urlOf(a)).expect(200);
    expect(body.success_nodes).toEqual([]);
  });
});

describe('a workflow inside itself', () => {
  const recursion = { unified_job_template: ['The workflow would contain itself.'] };

  it('is refused at any depth, on creation and on change', async () => {
    const [a, b, c] = [await makeWorkflow(), await makeWorkflow(), await makeWorkflow()];
    const self = await post(a, { unified_job_template: a.id }).expect(400);
    expect(self.body).toEqual(recursion);
    await post(a, { unified_job_template: b.id }).expect(201);
    await post(b, { unified_job_template: c.id }).expect(201);
    const deep = await post(c, { unified_job_template: a.id }).expect(400);
    expect(deep.body).toEqual(recursion);
    const node = await test.make.workflowNode(c);
    const changed = await test.as.superuser
      .patch(urlOf(node), { unified_job_template: a.id })
      .expect(400);
    expect(changed.body).toEqual(recursion);
    // Two nodes with the same template are not a recursion.
    await post(a, { unified_job_template: c.id }).expect(201);
  });

  it('is refused for two simultaneous requests', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [await makeWorkflow(), await makeWorkflow()];
      const answers = await Promise.all([
        post(a, { unified_job_template: b.id }),
        post(b, { unified_job_template: a.id }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    }
  });
});
