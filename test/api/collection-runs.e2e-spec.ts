/** Tasks of the collection's client start, wait for, decide and cancel runs. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { WorkflowRuns } from '../support/workflow-templates.js';
import { CollectionClient } from '../client/collection/collection-client.js';
import type { Item } from '../client/collection/python-values.js';

let test: TestApp;
let collection: CollectionClient;
let runs: WorkflowRuns;
let template: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  const token = await test.make.token(test.as.users.superuser);
  collection = new CollectionClient(test.url, { by: 'given token', token });
  const { make, home } = test;
  const organization = home.organization.id;
  const inventory = await make.inventory({ name: 'Lab', organization });
  await make.credential({ name: 'Key', organization });
  await make.row('label', { name: 'red', organization });
  const row = {
    inventory: inventory.id,
    project: (await make.project({ organization })).id,
    allow_simultaneous: true,
  };
  template = await make.jobTemplate({
    ...row,
    name: 'Asks',
    ...Object.fromEntries(
      ['variables', 'limit', 'tags', 'skip_tags', 'job_type', 'verbosity', 'inventory'].map(
        (word) => [`ask_${word}_on_launch`, true],
      ),
    ),
    ask_credential_on_launch: true,
    ask_diff_mode_on_launch: true,
    ask_labels_on_launch: true,
    ask_instance_groups_on_launch: true,
    ask_forks_on_launch: true,
    ask_timeout_on_launch: true,
  });
  await make.jobTemplate({ ...row, name: 'Asks nothing' });
}, 60_000);
afterAll(() => test.close());

const get = async (path: string): Promise<Item> =>
  (await test.as.superuser.get(path).expect(200)).body as Item;

/** Ends a run as a worker does. */
async function end(id: number, to: JobStatus): Promise<void> {
  const transitions = test.app.get(RunTransitions, { strict: false });
  await transitions.move([id], { from: ['pending'], to: 'running' });
  await transitions.move([id], { from: ['running'], to });
}

/** Ends the next run of a type when it appears, while the task waits for it. */
async function ending<T>(type: string, status: JobStatus, work: () => Promise<T>): Promise<T> {
  const last = await test.database.row<{ id: number }>(
    sql`SELECT coalesce(max(id), 0) AS id FROM unified_jobs`,
  );
  const ended = eventually(async () => {
    const run = await test.database.row<Row>(sql`
      SELECT * FROM unified_jobs WHERE type = ${type} AND id > ${last?.id ?? 0} LIMIT 1`);
    if (!run) throw new Error(`There is no new ${type}.`);
    await end(run.id, status);
  });
  const [outcome] = await Promise.all([work(), ended]);
  return outcome;
}

const waiting = { wait: true, interval: 0.02 };

describe('ad_hoc_command', () => {
  const task = { inventory: 'Lab', credential: 'Key', module_name: 'ping' };

  it('is launched in an environment, and waits for its end', async () => {
    await collection.run('execution_environment', { name: 'EE', image: 'quay.io/team/ee' });
    const outcome = await ending('ad_hoc_command', 'successful', () =>
      collection.run('ad_hoc_command', {
        ...{ ...task, ...waiting, execution_environment: 'EE', extra_vars: { a: [1] } },
      }),
    );
    expect(outcome).toMatchObject({ changed: true, status: 'successful' });
    const shown = await get(`ad_hoc_commands/${String(outcome.id)}/`);
    expect(shown).toMatchObject({
      ...{ extra_vars: '{"a": [1]}', module_name: 'ping' },
      summary_fields: { execution_environment: { name: 'EE', image: 'quay.io/team/ee' } },
    });
    const again = await collection.run('ad_hoc_command_wait', { command_id: outcome.id });
    expect(again).toMatchObject({ changed: false, status: 'successful' });
  });

  it('fails for a disabled module and for missing objects', async () => {
    await expect(collection.run('ad_hoc_command', { ...task, module_name: 'x' })).rejects.toThrow(
      'is not a valid choice',
    );
    for (const name of ['ad_hoc_command_wait', 'ad_hoc_command_cancel'] as const) {
      await expect(collection.run(name, { command_id: 99_999 })).rejects.toThrow('no such command');
    }
  });

  it('is canceled', async () => {
    const { id } = await collection.run('ad_hoc_command', task);
    const canceled = await collection.run('ad_hoc_command_cancel', { command_id: id });
    expect(canceled.changed).toBe(true);
    const again = await collection.run('ad_hoc_command_cancel', { command_id: id });
    expect(again.changed).toBe(false);
    await expect(
      collection.run('ad_hoc_command_cancel', { command_id: id, fail_if_not_running: true }),
    ).rejects.toThrow('not running');
  });
});

describe('job_launch', () => {
  const prompts = {
    extra_vars: { a: 1, b: ['x', null] },
    limit: 'web',
    tags: ['one', 'two'],
    skip_tags: ['three'],
    job_type: 'check',
    verbosity: 2,
    diff_mode: true,
    forks: 3,
    inventory: 'Lab',
    credentials: ['Key'],
    labels: ['red'],
    instance_groups: ['default'],
    job_timeout: 600,
  };

  it('starts a job with every prompt', async () => {
    const outcome = await collection.run('job_launch', { name: 'Asks', ...prompts });
    expect(outcome).toEqual({ changed: true, id: expect.any(Number), status: 'pending' });
    expect(await get(`jobs/${String(outcome.id)}/`)).toMatchObject({
      limit: 'web',
      job_tags: 'one,two',
      skip_tags: 'three',
      job_type: 'check',
      verbosity: 2,
      diff_mode: true,
      forks: 3,
      timeout: 600,
      launch_type: 'manual',
      summary_fields: { credentials: [{ name: 'Key' }], labels: { results: [{ name: 'red' }] } },
    });
  });

  it('waits for the end of the job', async () => {
    const task = { name: 'Asks', organization: 'Home', ...waiting };
    const outcome = await ending('job', 'successful', () => collection.run('job_launch', task));
    expect(outcome).toMatchObject({
      changed: true,
      status: 'successful',
      elapsed: expect.any(Number),
    });
    const failing = (): Promise<unknown> => collection.run('job_launch', task);
    await expect(ending('job', 'failed', failing)).rejects.toThrow(/: failed$/);
  });

  it('reports prompts that the template does not accept', async () => {
    const task = { name: 'Asks nothing', limit: 'web', extra_vars: { a: 1 } };
    await expect(collection.run('job_launch', task)).rejects.toThrow(
      'The template does not ask for limit, extra_vars.',
    );
    expect(collection.requests.every((request) => request.startsWith('GET'))).toBe(true);
  });
});

describe('job_wait', () => {
  it('waits for a job by its id, with a timeout', async () => {
    const { id } = await collection.run('job_launch', { name: 'Asks' });
    const late = collection.run('job_wait', { job_id: id, interval: 0.02, timeout: 0.1 });
    await expect(late).rejects.toThrow('takes too long');
    await end(Number(id), 'successful');
    const outcome = await collection.run('job_wait', { job_id: id, interval: 0.02 });
    expect(outcome).toEqual({
      changed: false,
      id,
      status: 'successful',
      elapsed: expect.any(Number),
      started: expect.any(String),
      finished: expect.any(String),
    });
  });

  it('reports a missing job', async () => {
    await expect(collection.run('job_wait', { job_id: 987654 })).rejects.toThrow('nothing for');
  });
});

describe('job_cancel', () => {
  it('cancels a running job', async () => {
    const { id } = await collection.run('job_launch', { name: 'Asks' });
    expect(await collection.run('job_cancel', { job_id: id })).toEqual({ changed: true });
    await eventually(async () => {
      expect(await get(`jobs/${String(id)}/`)).toMatchObject({ status: 'canceled' });
    });
    expect(await collection.run('job_cancel', { job_id: id })).toEqual({ changed: false });
    const insisting = { job_id: id, fail_if_not_running: true };
    await expect(collection.run('job_cancel', insisting)).rejects.toThrow('not running');
  });
});

it('job_list filters and reads all pages', async () => {
  await collection.run('job_launch', { name: 'Asks nothing' });
  for (let count = 0; count < 3; count += 1) await collection.run('job_launch', { name: 'Asks' });
  const query = { job_template: template.id, page_size: 2 };
  const pages = await collection.run('job_list', { all_pages: true, status: 'pending', query });
  expect(collection.requests.length).toBeGreaterThan(1);
  const jobs = pages.results as Item[];
  expect(jobs.length).toBeGreaterThan(2);
  for (const job of jobs) expect(job).toMatchObject({ name: 'Asks', status: 'pending' });
  expect(await collection.run('job_list', { page: 2, query })).toMatchObject({
    previous: expect.stringContaining('page'),
  });
});

describe('workflows', () => {
  const ran = (): Item => ({ unified_job_template: template.id });

  it('are launched with prompts, wait for their end, and report refused prompts', async () => {
    await runs.template({ step: ran() }, [], {
      name: 'Open flow',
      ask_limit_on_launch: true,
      ask_variables_on_launch: true,
      ask_inventory_on_launch: true,
    });
    const task = { name: 'Open flow', limit: 'web', extra_vars: { a: 1 }, inventory: 'Lab' };
    const outcome = await ending('workflow_job', 'successful', () =>
      collection.run('workflow_launch', { ...task, organization: 'Home', ...waiting }),
    );
    expect(outcome).toMatchObject({ changed: true, status: 'successful' });
    await runs.template({ step: ran() }, [], { name: 'Closed flow' });
    const refused = collection.run('workflow_launch', { ...task, name: 'Closed flow' });
    await expect(refused).rejects.toThrow('does not ask for inventory, limit, extra_vars.');
  });

  it('wait for each node, and are approved or denied', async () => {
    const flow = { name: 'Asking flow', allow_simultaneous: true };
    await runs.template(
      { step: ran(), Release: { approval: {} } },
      [['step', 'success', 'Release']],
      flow,
    );
    for (const action of ['approve', 'deny']) {
      const launched = await collection.run('workflow_launch', { name: flow.name, wait: false });
      const workflowJob = Number(launched.id);
      const place = { workflow_job_id: workflowJob, interval: 0.02, timeout: 10 };
      const waits = collection.run('workflow_node_wait', { ...place, name: 'Asks' });
      await runs.settle();
      await runs.end(workflowJob, 'step', 'successful');
      expect(await waits).toMatchObject({ changed: false, status: 'successful' });
      const decision = { ...place, name: 'Release', action };
      expect(await collection.run('workflow_approval', decision)).toEqual({ changed: true });
      // A second decision is refused, which the module reports as unchanged.
      expect(await collection.run('workflow_approval', decision)).toEqual({ changed: false });
      await runs.settle();
      const last = action === 'approve' ? 'successful' : 'failed';
      expect(await runs.outcomes(workflowJob)).toEqual({ step: 'successful', Release: last });
    }
  });

  it('do not wait forever for a node that never runs', async () => {
    await runs.template({ step: ran() }, [], { name: 'Waiting flow' });
    const launched = await collection.run('workflow_launch', { name: 'Waiting flow', wait: false });
    const task = { workflow_job_id: launched.id, name: 'Nothing', interval: 0.02, timeout: 0.1 };
    await expect(collection.run('workflow_node_wait', task)).rejects.toThrow('No node runs');
  });
});

describe('projects', () => {
  const place = { name: 'Fetched', organization: 'Home' };
  const fields = { scm_type: 'git', scm_url: 'https://127.0.0.1:9/x.git', scm_branch: 'main' };
  const update = (status: JobStatus, work: () => Promise<Item>): Promise<Item> =>
    ending('project_update', status, work);

  it('are synced when they are new and on request, and wait unless the task disables it', async () => {
    const created = { ...place, ...fields, ...waiting };
    const made = await update('successful', () => collection.run('project', created));
    expect(made).toMatchObject({ changed: true, id: expect.any(Number) });
    expect(collection.requests.at(-1)).toMatch(/^GET \/api\/v2\/project_updates\/\d+\/$/);
    expect((await collection.run('project', created)).changed).toBe(false);

    const task = { ...place, ...waiting };
    const outcome = await update('successful', () => collection.run('project_update', task));
    expect(outcome).toMatchObject({ changed: false, status: 'successful' });
    const failing = (): Promise<Item> => collection.run('project_update', task);
    await expect(update('failed', failing)).rejects.toThrow(/: failed$/);
    const updating = { ...task, update_project: true };
    const again = await update('successful', () => collection.run('project', updating));
    expect(again).toMatchObject({ changed: false });

    const pending = await collection.run('project_update', { ...place, wait: false });
    expect(pending).toMatchObject({ changed: true, status: 'pending' });
  });
});

describe('bulk operations', () => {
  it('launch jobs together and wait for them', async () => {
    const task = {
      name: 'Many',
      organization: 'Home',
      inventory: 'Lab',
      limit: 'web',
      extra_vars: { a: 1 },
      jobs: [
        { unified_job_template: String(template.id), extra_data: { b: 2 }, limit: 'db' },
        { unified_job_template: template.id, credentials: [], verbosity: '1' },
      ],
      ...waiting,
    };
    const outcome = await ending('workflow_job', 'successful', () =>
      collection.run('bulk_job_launch', task),
    );
    expect(outcome).toMatchObject({ changed: true, status: 'successful' });
    const launched = `workflow_jobs/${String(outcome.id)}/`;
    expect(await get(launched)).toMatchObject({ limit: 'web', organization: expect.any(Number) });
    expect(await get(`${launched}workflow_nodes/?order_by=id`)).toMatchObject({
      results: [{ limit: 'db', extra_data: { b: 2 } }, { verbosity: 1 }],
    });
  });

  it('create and delete hosts', async () => {
    const hosts = [
      { name: 'bulk-1', variables: '{"a": 1}', enabled: 'false' },
      { name: 'bulk-2', description: 'second' },
    ];
    await collection.run('inventory', { name: 'Racks', organization: 'Home' });
    const task = { inventory: 'Racks', hosts };
    expect(await collection.run('bulk_host_create', task)).toEqual({ changed: true });
    const repeated = collection.run('bulk_host_create', task);
    await expect(repeated).rejects.toThrow('400 instead of 201');
    const made = await get('hosts/?name__startswith=bulk-');
    expect(made).toMatchObject({ count: 2 });
    const ids = (made.results as Item[]).map(({ id }) => id);
    const deleted = await collection.run('bulk_host_delete', { inventory: 'Racks', hosts: ids });
    expect(deleted).toEqual({ changed: true });
    expect(await get('hosts/?name__startswith=bulk-')).toMatchObject({ count: 0 });
  });
});
