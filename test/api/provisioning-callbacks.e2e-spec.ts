/** Machines that request a job for themselves (docs/contract/launching.md#provisioning-callbacks). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { recordedKinds } from '../support/launch-entries.js';

const KEY = 'a key that machines know';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** A template with the key, on an inventory with some hosts. */
async function templateOn(
  hosts: Record<string, string>,
  fields: Record<string, unknown> = {},
): Promise<Row> {
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  for (const [name, variables] of Object.entries(hosts)) {
    await test.make.host(inventory, { name, variables });
  }
  return test.make.jobTemplate({ inventory: inventory.id, host_config_key: KEY, ...fields });
}

const call = ({ id }: Row, body: object = { host_config_key: KEY }) =>
  test.as.anonymous.post(`job_templates/${id}/callback/`, body);
const refused = async (template: Row, body?: object): Promise<unknown> =>
  (await call(template, body).expect(400)).body;

it('a callback launches the template on the calling host only', async () => {
  const template = await templateOn({ '127.0.0.1': '', other: '' }, { job_slice_count: 2 });
  const { body, headers } = await call(template).expect(201);
  expect(body).toEqual({ job: expect.any(Number), url: `/api/v2/jobs/${body.job}/` });
  expect(headers.location).toBe(body.url);
  expect((await test.as.superuser.get(`jobs/${body.job}/`)).body).toMatchObject({
    ...{ launch_type: 'callback', limit: '127.0.0.1', job_template: template.id },
    summary_fields: expect.not.objectContaining({ created_by: expect.anything() }),
  });
});

it('a callback accepts form data', async () => {
  const template = await templateOn({ '127.0.0.1': '' });
  const answer = await fetch(`${test.url}/api/v2/job_templates/${template.id}/callback/`, {
    method: 'POST',
    body: new URLSearchParams({ host_config_key: KEY }),
  });
  expect(answer.status).toBe(201);
});

it('the refusal is the same for a missing or wrong key and for a missing template', async () => {
  const template = await templateOn({ '127.0.0.1': '' });
  const keyless = await templateOn({ '127.0.0.1': '' }, { host_config_key: '' });
  const refusals = [
    await call(template, { host_config_key: `${KEY}!` }),
    await call(template, {}),
    await call(keyless, { host_config_key: '' }),
    await call({ id: 99_999 }),
    await call({ id: 0 }),
  ];
  for (const { status, body } of refusals) {
    expect([status, body]).toEqual([403, refusals[0]!.body]);
  }
  await test.as.superuser.post(`job_templates/${template.id}/callback/`, {}).expect(403);
});

it('hosts match by their address variable, and by the name of their address', async () => {
  const placed = await templateOn({
    ...{ web: 'ansible_host: 127.0.0.1', db: '{"ansible_ssh_host": "10.0.0.1"}' },
    '127.0.0.1': 'ansible_host: 10.0.0.2',
  });
  const { body } = await call(placed).expect(201);
  expect((await test.as.superuser.get(`jobs/${body.job}/`)).body.limit).toBe('web');
  await call(await templateOn({ LocalHost: '', web: '' })).expect(201);
});

it('a callback is refused for no host, several hosts and disabled hosts', async () => {
  const none = { detail: 'No matching host could be found!' };
  expect(await refused(await templateOn({ web: 'note: 127.0.0.1' }))).toEqual(none);
  const several = { '127.0.0.1': '', web: 'ansible_host: 127.0.0.1' };
  expect(await refused(await templateOn(several))).toEqual({
    detail: 'Multiple hosts matched the request!',
  });
  const template = await templateOn({ '127.0.0.1': '' });
  await test.database.execute(
    sql`UPDATE hosts SET enabled = false WHERE inventory_id = ${template.inventory_id as number}`,
  );
  expect(await refused(template)).toEqual(none);
});

it('a callback is refused if the name of its host is a pattern that can match other hosts', async () => {
  const address = 'ansible_host: 127.0.0.1';
  for (const name of ['*', 'web?', 'web,db', 'web:db:db2', '~.', '!db', '@hosts']) {
    const refusal = await refused(await templateOn({ [name]: address, db: '' }));
    expect([name, refusal]).toEqual([name, { detail: 'Error starting job!' }]);
  }
  await call(await templateOn({ '2001:db8::1': address })).expect(201);
  const { body } = await call(await templateOn({ 'web db': address, db: '' })).expect(201);
  expect((await test.as.superuser.get(`jobs/${body.job}/`)).body.limit).toBe('web db,');
});

it('a callback is refused during a job of the host, and if the template needs input', async () => {
  const template = await templateOn({ '127.0.0.1': '' });
  const answers = await Promise.all([call(template), call(template), call(template)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
  expect(await refused(template)).toEqual({ detail: 'Host callback job already pending.' });
  const asking = await templateOn({ '127.0.0.1': '' });
  const spec = [{ question_name: 'Which', variable: 'which', type: 'text', required: true }];
  const survey = { name: 's', description: '', spec };
  await test.as.superuser.post(`job_templates/${asking.id}/survey_spec/`, survey).expect(200);
  await test.as.superuser.patch(`job_templates/${asking.id}/`, { survey_enabled: true });
  expect(await refused(asking)).toEqual({
    detail: 'Cannot start automatically, user input required!',
  });
  await call(asking, { host_config_key: KEY, extra_vars: { which: 'this' } }).expect(201);
});

it('a callback accepts variables if the template prompts for them', async () => {
  const body = { host_config_key: KEY, extra_vars: { a: 1 } };
  for (const asks of [false, true]) {
    const template = await templateOn({ '127.0.0.1': '' }, { ask_variables_on_launch: asks });
    const { job } = (await call(template, body).expect(201)).body;
    const { extra_vars: text } = (await test.as.superuser.get(`jobs/${job}/`)).body;
    expect(JSON.parse(text)).toEqual(asks ? { a: 1 } : {});
  }
});

/**
 * Returns a template whose inventory has a source, and a function that ends the update of the source, after
 * changes of the template.
 */
async function templateWithSource(): Promise<
  [template: Row, deliver: (changes?: object) => Promise<number>]
> {
  const template = await templateOn({});
  const inventory = template.inventory_id as number;
  const source = await test.as.superuser
    .post('inventory_sources/', {
      ...{ name: 'Cloud', inventory, source: 'ec2', update_on_launch: true },
    })
    .expect(201);
  const deliver = async (changes: object = {}): Promise<number> => {
    const list = `inventory_sources/${source.body.id}/inventory_updates/?launch_type=callback`;
    const id = await eventually(async () => {
      const { results } = (await test.as.superuser.get(list)).body as { results: Row[] };
      expect(results).toHaveLength(1);
      return Number(results[0]?.id);
    });
    await test.as.superuser.patch(`job_templates/${template.id}/`, changes).expect(200);
    await test.make.host({ id: inventory }, { name: '127.0.0.1' });
    const transitions = test.app.get(RunTransitions, { strict: false });
    await transitions.move([id], { from: ['pending'], to: 'running' });
    await transitions.move([id], { from: ['running'], to: 'successful' });
    return id;
  };
  return [template, deliver];
}

it('simultaneous callbacks update the sources that may contain the host once, and wait', async () => {
  const [template, deliver] = await templateWithSource();
  const calls = Promise.all(Array.from({ length: 3 }, () => call(template)));
  const [answered, id] = await Promise.all([calls, deliver()]);
  expect(answered.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
  expect(await recordedKinds(test.database, [id])).toEqual(['inventory_update']);
});

it.each<[string, () => Promise<object>, number]>([
  ['the key', async () => ({ host_config_key: 'another key' }), 403],
  ['the inventory', async () => ({ inventory: (await templateOn({})).inventory_id }), 400],
])('a callback that waited is refused after a change of %s', async (_field, change, status) => {
  const [template, deliver] = await templateWithSource();
  const [answered] = await Promise.all([call(template), deliver(await change())]);
  expect(answered.status).toBe(status);
});

it('a callback returns 503 when its process shuts down', async () => {
  const leaving = await boot();
  const { make, as, home } = leaving;
  const inventory = await make.inventory({ organization: home.organization.id });
  const template = await make.jobTemplate({ inventory: inventory.id, host_config_key: KEY });
  const fields = { inventory: inventory.id, source: 'ec2', update_on_launch: true };
  await as.superuser.post('inventory_sources/', { name: 'Cloud', ...fields }).expect(201);
  const body = { host_config_key: KEY };
  const answer = as.anonymous.post(`job_templates/${template.id}/callback/`, body).expect(503);
  const [{ headers }] = await Promise.all([
    answer,
    eventually(async () => {
      const { body: updates } = await as.superuser.get('inventory_updates/');
      expect(updates.count).toBe(1);
    }).then(() => leaving.close()),
  ]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

it('the key is visible to users who may change it, with the hosts that match the caller', async () => {
  const template = await templateOn({ '127.0.0.1': '', web: '' });
  const path = `job_templates/${template.id}/`;
  const { body } = await test.as.superuser.get(`${path}callback/`).expect(200);
  expect(body).toEqual({ host_config_key: KEY, matching_hosts: ['127.0.0.1'] });
  await test.make.grant('job_template', template, 'read_role', { user: test.as.users.nobody });
  const read = await test.as.nobody.get(`${path}callback/`).expect(200);
  // Hosts of an inventory that the caller may not read are not named.
  expect(read.body).toEqual({ host_config_key: '$encrypted$', matching_hosts: [] });
  const reading = await test.as.asUser(test.as.users.superuser, { scope: 'read' });
  for (const url of [path, `${path}callback/`]) {
    expect((await reading.get(url).expect(200)).body.host_config_key).toBe('$encrypted$');
  }
  await test.as.anonymous.get(`${path}callback/`).expect(401);
  const { related } = (await test.as.superuser.get(path)).body;
  expect(related.callback).toBe(`/api/v2/${path}callback/`);
  const keyless = await test.make.jobTemplate({});
  const shown = (await test.as.superuser.get(`job_templates/${keyless.id}/`)).body;
  expect(shown.related).not.toHaveProperty('callback');
});
