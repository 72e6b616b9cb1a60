import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { firstSample } from '../support/payloads/webhooks.js';
import { countQueries } from '../support/queries.js';
import { newHook } from '../support/webhooks.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
  await test.make.hosts(inventory, 3);
});
afterAll(() => test.close());

const sliced = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, job_slice_count: 2, ...fields });
const launch = ({ id }: Row, body: object = {}) =>
  test.as.superuser.post(`job_templates/${id}/launch/`, body);
const nodesOf = async (id: unknown): Promise<Row[]> => {
  const { body } = await test.as.superuser.get(`workflow_jobs/${String(id)}/workflow_nodes/`);
  return body.results as Row[];
};

describe('a sliced launch', () => {
  it('creates a workflow job with a node for each slice', async () => {
    const template = await sliced({ ask_limit_on_launch: true });
    const { body, headers } = await launch(template, { limit: 'web*' }).expect(201);
    const url = `/api/v2/workflow_jobs/${body.workflow_job}/`;
    expect(headers.location).toBe(url);
    expect(body).toMatchObject({
      id: body.workflow_job,
      type: 'workflow_job',
      url,
      name: template.name,
      status: 'pending',
      launch_type: 'manual',
      is_sliced_job: true,
      job_template: template.id,
      workflow_job_template: null,
      unified_job_template: template.id,
      inventory: inventory.id,
      limit: 'web*',
      ignored_fields: {},
      related: {
        job_template: `/api/v2/job_templates/${template.id}/`,
        unified_job_template: `/api/v2/job_templates/${template.id}/`,
      },
    });
    expect(body).not.toHaveProperty('job');
    expect(await nodesOf(body.id)).toMatchObject([
      { unified_job_template: template.id, limit: 'web*', success_nodes: [] },
      { unified_job_template: template.id, limit: 'web*', failure_nodes: [] },
    ]);
    const listed = await test.as.superuser.get(`job_templates/${template.id}/slice_workflow_jobs/`);
    expect(listed.body.results).toMatchObject([{ id: body.id }]);
  });

  it('appears on its template immediately, like a job', async () => {
    const template = await sliced();
    const { body: run } = await launch(template).expect(201);
    const { body } = await test.as.superuser.get(`job_templates/${template.id}/`).expect(200);
    expect(body).toMatchObject({
      status: 'pending',
      related: { current_job: `/api/v2/workflow_jobs/${run.id}/` },
    });
  });

  it('creates no slice without a host', async () => {
    const template = await sliced({ job_slice_count: 50 });
    expect(await nodesOf((await launch(template).expect(201)).body.id)).toHaveLength(3);
  });

  it('creates at most 1,000 slices, and none with too many variables for all together', async () => {
    const large = await test.make.inventory({ organization: test.home.organization.id });
    await test.database.execute(sql`
      INSERT INTO hosts (name, inventory_id)
      SELECT 'h' || number, ${large.id} FROM generate_series(1, 1001) AS number`);
    const template = await sliced({
      inventory: large.id,
      job_slice_count: 2_000_000_000,
      ask_variables_on_launch: true,
    });
    const { body } = await launch(template, { extra_vars: { a: 1 } }).expect(201);
    const { body: nodes } = await test.as.superuser.get(`workflow_jobs/${body.id}/workflow_nodes/`);
    expect(nodes.count).toBe(1000);
    await test.database.execute(
      sql`UPDATE unified_jobs SET status = 'successful' WHERE id = ${body.id}`,
    );
    await test.as.superuser.post(`workflow_jobs/${body.id}/relaunch/`, {}).expect(201);
    const refused = await launch(template, { extra_vars: { a: 'x'.repeat(70_000) } }).expect(400);
    expect(refused.body).toEqual({
      extra_vars: [
        'Variables and limit may have at most 67108864 characters for all 1000 jobs together.',
      ],
    });
  });

  it('creates one job for one host or none', async () => {
    for (const hosts of [1, 0]) {
      const small = await test.make.inventory({ organization: test.home.organization.id });
      await test.make.hosts(small, hosts);
      const template = await sliced({ inventory: small.id });
      const { body } = await launch(template).expect(201);
      expect(body).toMatchObject({ type: 'job', job_slice_number: 0, job_slice_count: 1 });
    }
  });

  it('can be started by a webhook, and is found by a repeated delivery', async () => {
    const hook = await newHook(test, 'service_a', { inventory: inventory.id, job_slice_count: 2 });
    const delivery = randomUUID();
    const { body: first } = await hook.send(firstSample('service_a'), { delivery }).expect(202);
    expect(first.url).toBe(`/api/v2/workflow_jobs/${first.job}/`);
    const { body: job } = await test.as.superuser.get(first.url.slice('/api/v2/'.length));
    expect(job).toMatchObject({
      is_sliced_job: true,
      launch_type: 'webhook',
      webhook_service: 'service_a',
      webhook_guid: delivery,
    });
    const { body: second } = await hook.send(firstSample('service_a'), { delivery }).expect(202);
    expect(second).toMatchObject({ job: first.job, url: first.url });
  });

  it('applies the slice count of the request if the template prompts for it', async () => {
    const template = await sliced({
      job_slice_count: 1,
      ask_job_slice_count_on_launch: true,
      ask_inventory_on_launch: true,
    });
    expect((await launch(template).expect(201)).body.type).toBe('job');
    const { body } = await launch(template, { job_slice_count: 3 }).expect(201);
    expect(await nodesOf(body.workflow_job)).toHaveLength(3);
    const empty = await test.make.inventory({ organization: test.home.organization.id });
    const asked = { job_slice_count: 3, inventory: empty.id };
    expect((await launch(template, asked).expect(400)).body).toEqual({
      job_slice_count: ['Job inventory does not have enough hosts for slicing'],
    });
  });

  it('is refused with credentials that prompt for a password', async () => {
    const template = await sliced();
    const machine = await test.database.row<Row>(sql`
      SELECT id FROM credential_types WHERE kind = 'ssh' LIMIT 1`);
    const asking = await test.make.credential({
      organization: test.home.organization.id,
      credential_type: machine!.id,
      inputs: { username: 'x', password: 'ASK' },
    });
    await test.as.superuser
      .post(`job_templates/${template.id}/credentials/`, { id: asking.id })
      .expect(204);
    const body = { credential_passwords: { ssh_password: 'y' } };
    expect((await launch(template, body).expect(400)).body).toEqual({
      credentials: ['Credentials that ask for a password cannot be used in slices.'],
    });
  });

  it('requires the same permissions as the template', async () => {
    const template = await sliced();
    const user = test.as.users.teamMember;
    await test.make.grant('job_template', template, 'execute_role', { user });
    const { body } = await test.as.teamMember
      .post(`job_templates/${template.id}/launch/`, {})
      .expect(201);
    await test.as.teamMember.get(`workflow_jobs/${body.id}/`).expect(200);
    await test.as.outsider.get(`workflow_jobs/${body.id}/`).expect(403);
    const again = await test.as.teamMember
      .post(`workflow_jobs/${body.id}/relaunch/`, {})
      .expect(201);
    expect(again.body).toMatchObject({ is_sliced_job: true, launch_type: 'relaunch' });
    expect(await nodesOf(again.body.id)).toHaveLength(2);
  });

  it('can be relaunched repeatedly with its number of slices', async () => {
    const asked = { ask_job_slice_count_on_launch: true, job_slice_count: 1 };
    const template = await sliced(asked);
    let { id } = (await launch(template, { job_slice_count: 3 }).expect(201)).body;
    for (let times = 0; times < 2; times += 1) {
      ({ id } = (
        await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201)
      ).body);
      expect(await nodesOf(id)).toHaveLength(3);
    }
  });

  it('can be relaunched on a smart inventory, whose hosts are in other inventories', async () => {
    const smart = await test.make.inventory({
      ...{
        organization: test.home.organization.id,
        kind: 'smart',
        host_filter: 'name__contains=-',
      },
    });
    const { id } = (await launch(await sliced({ inventory: smart.id })).expect(201)).body;
    expect(await nodesOf(id)).toHaveLength(2);
    const { body } = await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(201);
    expect(await nodesOf(body.id)).toHaveLength(2);
  });

  it('sends the same statements for two slices as for three', async () => {
    const [two, three] = [await sliced(), await sliced({ job_slice_count: 3 })];
    // The first launch fills the caches.
    await launch(two).expect(201);
    const one = await countQueries(test.database, () => launch(two).expect(201));
    expect(await countQueries(test.database, () => launch(three).expect(201))).toBe(one);
  });
});

describe('a sliced job cannot be relaunched', () => {
  it('after the number of slices changed', async () => {
    const template = await sliced();
    const { id } = (await launch(template).expect(201)).body;
    await test.as.superuser
      .patch(`job_templates/${template.id}/`, { job_slice_count: 3 })
      .expect(200);
    expect(
      (await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400)).body,
    ).toEqual({ detail: 'Cannot relaunch sliced workflow job after slice count has changed.' });
  });

  it('after its job template was deleted', async () => {
    const template = await sliced();
    const { id } = (await launch(template).expect(201)).body;
    await test.database.execute(sql`UPDATE unified_jobs SET status = 'canceled' WHERE id = ${id}`);
    await test.as.superuser.delete(`job_templates/${template.id}/`).expect(204);
    const shown = await test.as.superuser.get(`workflow_jobs/${id}/`).expect(200);
    expect(shown.body).toMatchObject({ is_sliced_job: true, job_template: null });
    expect(
      (await test.as.superuser.post(`workflow_jobs/${id}/relaunch/`, {}).expect(400)).body,
    ).toEqual({ detail: 'Cannot relaunch slice workflow job orphaned from job template.' });
  });
});
