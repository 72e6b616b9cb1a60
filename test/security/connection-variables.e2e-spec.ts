/**
 * Launches set the variables that decide how Ansible connects only if the author of the template allows it.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { Launchers } from '../../src/launching/launchers.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { variablesOf, WorkflowRuns } from '../support/workflow-templates.js';

const ATTACK = {
  ansible_connection: 'ssh',
  ansible_ssh_common_args: '-o ProxyCommand="sh -c id"',
  colour: 'red',
};
const fault = (...names: string[]): string =>
  `Variables ${names.join(', ')} decide how Ansible connects or what it executes. ` +
  'Only a template with allow_connection_vars takes them from a launch.';
const REFUSED = fault('ansible_connection', 'ansible_ssh_common_args');

let test: TestApp;
let runs: WorkflowRuns;
/** Client with the execute role on single templates, and no other permission. */
let executor: ApiClient;
let user: Row;
/** Template that accepts all variables except those of the connection. */
let closed: Row;
/** Template that accepts the variables of the connection too. */
let open: Row;

const launch = ({ id }: Row, extra_vars: unknown, client: ApiClient = executor) =>
  client.post(`job_templates/${id}/launch/`, { extra_vars });

async function launchable(fields: object): Promise<Row> {
  const { make, home } = test;
  const template = await make.jobTemplate({
    project: (await make.project({ organization: home.organization.id })).id,
    inventory: (await make.inventory({ organization: home.organization.id })).id,
    ask_variables_on_launch: true,
    allow_simultaneous: true,
    ...fields,
  });
  await make.grant('job_template', template, 'execute_role', { user });
  return template;
}

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  user = await test.make.user();
  await test.make.grant('organization', test.home.organization, 'member_role', { user });
  executor = await test.as.asUser(user);
  closed = await launchable({ extra_vars: 'ansible_connection: local' });
  open = await launchable({ allow_connection_vars: true });
}, 60_000);
afterAll(() => test.close());

describe('a launch with connection variables', () => {
  it.each([
    ['an object', ATTACK],
    ['JSON', JSON.stringify(ATTACK)],
    ['YAML', 'ansible_connection: ssh\nansible_ssh_common_args: -o ProxyCommand=id\n'],
  ])('is refused for %s, for any user', async (_, variables) => {
    const { body } = await launch(closed, variables).expect(400);
    expect(body).toEqual({ extra_vars: [REFUSED] });
    await launch(closed, variables, test.as.superuser).expect(400);
  });

  it.each([
    'ansible_host',
    'ansible_port',
    'ansible_ssh_executable',
    'ansible_python_interpreter',
    'ansible_become_exe',
    'ansible_shell_executable',
    'ansible_remote_tmp',
    'ansible_chroot_exe',
    'ansible_hashi_vault_url',
    'inventory_hostname',
    'sops_binary',
  ])('must not contain %s', async (name) => {
    const { body } = await launch(closed, { [name]: 'evil.example' }).expect(400);
    expect(body).toEqual({ extra_vars: [fault(name)] });
  });

  it('may contain all other variables, including expressions and names within values', async () => {
    const variables = { text: '{{ ansible_host }}', nested: { ansible_connection: 'ssh' } };
    const { body } = await launch(closed, variables).expect(201);
    expect(JSON.parse(body.extra_vars)).toEqual({ ansible_connection: 'local', ...variables });
  });

  it('may repeat the values of the template', async () => {
    await launch(closed, { ansible_connection: 'local', colour: 'red' }).expect(201);
    await launch(closed, { ansible_connection: 'docker' }).expect(400);
  });

  it('is accepted by a template that permits them', async () => {
    const { body } = await launch(open, ATTACK).expect(201);
    expect(JSON.parse(body.extra_vars)).toEqual(ATTACK);
  });

  it('is refused in a survey answer, and not in its default', async () => {
    const template = await launchable({ ask_variables_on_launch: false, survey_enabled: true });
    const question = { question_name: 'Where', variable: 'ansible_host', type: 'text' };
    const spec = [{ ...question, default: '10.0.0.7' }];
    await test.as.superuser
      .post(`job_templates/${template.id}/survey_spec/`, { name: '', description: '', spec })
      .expect(200);
    const { body } = await launch(template, { ansible_host: 'evil.example' }).expect(400);
    expect(body).toEqual({ extra_vars: [fault('ansible_host')] });
    const launched = await launch(template, {}).expect(201);
    expect(JSON.parse(launched.body.extra_vars)).toEqual({ ansible_host: '10.0.0.7' });
    await launch(template, { ansible_host: '10.0.0.7' }).expect(201);
  });

  it('is refused again after the template revoked the permission', async () => {
    const template = await launchable({ allow_connection_vars: true });
    const { body } = await launch(template, ATTACK).expect(201);
    const again = () => executor.post(`jobs/${body.job}/relaunch/`, {});
    await again().expect(201);
    await test.as.superuser
      .patch(`job_templates/${template.id}/`, { allow_connection_vars: false })
      .expect(200);
    expect((await again().expect(400)).body).toEqual({ extra_vars: [REFUSED] });
  });
});

it('only admins of a template can permit connection variables', async () => {
  await executor.patch(`job_templates/${closed.id}/`, { allow_connection_vars: true }).expect(403);
  await executor
    .patch(`job_templates/${closed.id}/`, { extra_vars: JSON.stringify(ATTACK) })
    .expect(403);
});

it('a bulk launch with connection variables is refused in an entry and in the whole', async () => {
  const bulk = (entry: object, common: object = {}) =>
    executor.post('bulk/job_launch/', {
      name: 'Bulk',
      jobs: [{ unified_job_template: closed.id, ...entry }],
      ...common,
    });
  const own = await bulk({ extra_vars: ATTACK }).expect(400);
  expect(JSON.stringify(own.body)).toContain(REFUSED);
  const common = await bulk({}, { extra_vars: ATTACK }).expect(400);
  expect(JSON.stringify(common.body)).toContain(REFUSED);
  await bulk({ extra_vars: { colour: 'red' } }).expect(201);
});

describe('a workflow', () => {
  const launched = ({ id }: Row, extra_vars: object) =>
    test.as.superuser.post(`workflow_job_templates/${id}/launch/`, { extra_vars });

  it('accepts them if permitted, and passes them to templates that permit them', async () => {
    const nodes = {
      open: { unified_job_template: open.id },
      closed: { unified_job_template: closed.id },
    };
    const fields = { ask_variables_on_launch: true, allow_connection_vars: true };
    const workflow = await runs.template(nodes, [], fields);
    const { body } = await launched(workflow, ATTACK).expect(201);
    await runs.settle();
    expect(variablesOf(await runs.runOf(body.workflow_job, 'open'))).toEqual(ATTACK);
    expect(await runs.runOf(body.workflow_job, 'closed')).toMatchObject({
      status: 'failed',
      job_explanation: expect.stringContaining(REFUSED),
    });
    await test.as.superuser
      .patch(`workflow_job_templates/${workflow.id}/`, { allow_connection_vars: false })
      .expect(200);
    expect((await launched(workflow, ATTACK).expect(400)).body).toEqual({ extra_vars: [REFUSED] });
    const again = await test.as.superuser
      .post(`workflow_jobs/${body.workflow_job}/relaunch/`, {})
      .expect(400);
    expect(again.body).toEqual({ extra_vars: [REFUSED] });
  });

  it('does not pass its own variables to a template of another owner', async () => {
    const nodes = { closed: { unified_job_template: closed.id } };
    const workflow = await runs.template(nodes, [], { extra_vars: JSON.stringify(ATTACK) });
    const id = await runs.launch(workflow);
    await runs.settle();
    expect(await runs.runOf(id, 'closed')).toMatchObject({
      status: 'failed',
      job_explanation: expect.stringContaining(REFUSED),
    });
  });

  it('does not pass them from an earlier run', async () => {
    const nodes = {
      first: { unified_job_template: open.id },
      second: { unified_job_template: closed.id },
    };
    const workflow = await runs.template(nodes, [['first', 'success', 'second']]);
    const id = await runs.launch(workflow);
    await runs.end(id, 'first', 'successful', { ansible_host: 'evil.example' });
    expect(await runs.runOf(id, 'second')).toMatchObject({
      status: 'failed',
      job_explanation: expect.stringContaining(fault('ansible_host')),
    });
  });
});

describe('saved connection variables', () => {
  const RULE = 'DTSTART:20200101T000000Z RRULE:FREQ=HOURLY;INTERVAL=1';
  const schedule = ({ id }: Row, extra_data: object) =>
    executor.post(`job_templates/${id}/schedules/`, { name: `S${id}`, rrule: RULE, extra_data });

  it('are refused when a node or a schedule is saved', async () => {
    expect((await schedule(closed, ATTACK).expect(400)).body).toEqual({ extra_data: [REFUSED] });
    const workflow = await test.make.workflowTemplate({
      organization: test.home.organization.id,
    });
    const { body } = await test.as.superuser
      .post(`workflow_job_templates/${workflow.id}/workflow_nodes/`, {
        unified_job_template: closed.id,
        extra_data: ATTACK,
      })
      .expect(400);
    expect(body).toEqual({ extra_data: [REFUSED] });
  });

  it('are refused again at launch', async () => {
    const template = await launchable({ allow_connection_vars: true });
    await schedule(template, ATTACK).expect(201);
    const workflow = await runs.template({
      node: { unified_job_template: template.id, extra_data: ATTACK },
    });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET allow_connection_vars = false WHERE id = ${template.id}`);
    const launchers = test.app.get(Launchers, { strict: false });
    const [scheduled] = await test.database.transaction(() =>
      launchers.launchPossible([
        {
          templateId: template.id,
          templateType: 'job_template',
          launchType: 'scheduled',
          createdBy: null,
          prompts: { extra_vars: ATTACK },
        },
      ]),
    );
    expect(scheduled).toEqual({ run: null, errors: { extra_vars: [REFUSED] } });
    const id = await runs.launch(workflow);
    await runs.settle();
    expect(await runs.runOf(id, 'node')).toMatchObject({
      status: 'failed',
      job_explanation: expect.stringContaining(REFUSED),
    });
  });
});
