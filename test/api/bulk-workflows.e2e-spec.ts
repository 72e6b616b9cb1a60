import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { bulkLaunches, type BulkLaunches } from '../support/bulk-launches.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let bulk: BulkLaunches;
beforeAll(async () => {
  test = await boot();
  bulk = await bulkLaunches(test);
});
afterAll(() => test.close());

const makeWorkflow = async (fields: object = {}): Promise<Row> => {
  const { make, as, home } = test;
  const workflow = await make.workflowTemplate({ organization: home.organization.id, ...fields });
  const user = as.users.orgMember;
  await make.grant('workflow_job_template', workflow, 'execute_role', { user });
  return workflow;
};

it('a bulk launch can contain workflows and jobs', async () => {
  const workflow = await makeWorkflow({ ask_limit_on_launch: true });
  const { body } = await bulk
    .launch([bulk.node(), bulk.node({ identifier: 'w', limit: 'web' }, workflow)])
    .expect(201);
  expect(body.ignored_fields).toEqual({});
  const nodes = await bulk.nodesOf(body);
  expect(nodes).toMatchObject([
    { unified_job_template: bulk.template.id },
    {
      unified_job_template: workflow.id,
      identifier: 'w',
      limit: 'web',
      related: { unified_job_template: `/api/v2/workflow_job_templates/${workflow.id}/` },
      summary_fields: { unified_job_template: { unified_job_type: 'workflow_job' } },
    },
  ]);
});

it('a bulk launch reports prompts that a workflow does not accept', async () => {
  const workflow = await makeWorkflow();
  const fields = { identifier: 'w', limit: 'web', forks: 2, extra_vars: { a: 1 } };
  const { body } = await bulk.launch([bulk.node(fields, workflow)]).expect(201);
  expect(body.ignored_fields).toEqual({ w: ['limit', 'forks', 'extra_vars'] });
});

it('a bulk launch requires execute on its workflows, and reports errors by entry', async () => {
  const { make, home, as } = test;
  const readable = await make.workflowTemplate({ organization: home.organization.id });
  const hidden = await make.workflowTemplate({ organization: home.organization.id });
  const user = as.users.orgMember;
  await make.grant('workflow_job_template', readable, 'read_role', { user });
  const asking = await makeWorkflow();
  const url = `workflow_job_templates/${asking.id}/`;
  const spec = [{ question_name: 'Q', variable: 'q', type: 'text', required: true }];
  await as.superuser.post(`${url}survey_spec/`, { name: '', description: '', spec }).expect(200);
  await as.superuser.patch(url, { survey_enabled: true }).expect(200);
  const jobs = [bulk.node(), ...[readable, hidden, asking].map((one) => bulk.node({}, one))];
  const { body } = await bulk.launch(jobs).expect(400);
  expect(body).toEqual({
    __all__: [
      `Unified Job Templates {${hidden.id}} not found or you don't have permissions to access it`,
      `Workflow Job Templates {${readable.id}} not found or you don't have permissions to access it`,
    ],
    jobs: [{}, {}, {}, { variables_needed_to_start: ["'q' value missing"] }],
  });
  await bulk.launch([bulk.node({ extra_vars: { q: 'a' } }, asking)]).expect(201);
});

it('secret survey answers of a workflow stay secret', async () => {
  const workflow = await makeWorkflow();
  const url = `workflow_job_templates/${workflow.id}/`;
  const spec = [{ question_name: 'P', variable: 'p', type: 'password' }];
  await test.as.superuser
    .post(`${url}survey_spec/`, { name: '', description: '', spec })
    .expect(200);
  await test.as.superuser.patch(url, { survey_enabled: true }).expect(200);
  const node = bulk.node({ extra_vars: { p: 'canary-in-bulk' } }, workflow);
  const { body } = await bulk.launch([node]).expect(201);
  const defaults = { extra_vars: { p: 'canary-in-bulk' } };
  const project = await test.make.project({
    ...{ organization: test.home.organization.id, scm_type: 'git', scm_url: 'https://a.example/b' },
  });
  await test.make.grant('project', project, 'update_role', { user: test.as.users.orgMember });
  const jobs = [bulk.node({}, workflow), bulk.node({}, project), bulk.node()];
  const { body: byDefault } = await bulk.launch(jobs, defaults).expect(201);
  const nodes = await bulk.nodesOf(body);
  expect(nodes).toMatchObject([{ extra_data: { p: '$encrypted$' } }]);
  const withoutSurvey = { survey_enabled: false, ask_variables_on_launch: true };
  await test.as.superuser.patch(url, withoutSurvey).expect(200);
  const relaunch = ({ id }: Row) =>
    test.as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201);
  const { body: again } = await relaunch(body);
  expect(await bulk.nodesOf(again)).toMatchObject([{ extra_data: { p: '$encrypted$' } }]);
  const { body: againByDefault } = await relaunch(byDefault);
  expect(againByDefault.extra_vars).toBe('{"p": "$encrypted$"}');
  // Errors about the answers mask them, too.
  const numbers = [{ question_name: 'P', variable: 'p', type: 'integer' }];
  const survey = { name: '', description: '', spec: numbers };
  await test.as.superuser.post(`${url}survey_spec/`, survey).expect(200);
  await test.as.superuser.patch(url, { survey_enabled: true }).expect(200);
  for (const { id } of [again, againByDefault]) {
    const refused = await test.as.orgMember.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400);
    expect(JSON.stringify(refused.body)).toContain("Value $encrypted$ for 'p' expected");
  }
  const runs = [body, byDefault, again, againByDefault];
  const stored = await test.database.rows(sql`
    SELECT n::text || j::text AS text FROM workflow_job_nodes n
    JOIN unified_jobs j ON j.id = n.workflow_job_id
    WHERE j.id = ANY(${runs.map(({ id }) => id as number)}::bigint[])`);
  expect(JSON.stringify([runs, nodes, stored])).not.toContain('canary-in-bulk');
});

it('fifty workflows need as many statements as two', async () => {
  const workflows = [await makeWorkflow(), await makeWorkflow()];
  const jobs = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => bulk.node({}, workflows[index % 2]));
  const launch = (count: number) => () => bulk.launch(jobs(count)).expect(201);
  await launch(2)();
  const two = await countQueries(test.database, launch(2));
  expect(await countQueries(test.database, launch(50))).toBe(two);
  expect(two).toBeLessThanOrEqual(15);
});
