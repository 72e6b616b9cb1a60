import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { endJob, launchJob } from '../support/runs.js';

let test: TestApp;
let inventory: Row;
let project: Row;
beforeAll(async () => {
  test = await boot();
  const owned = { organization: test.home.organization.id };
  inventory = await test.make.inventory(owned);
  project = await test.make.project(owned);
});
afterAll(() => test.close());

const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, project: project.id, ...fields });

describe('relaunch', () => {
  const failedJob = async (template: Row, body: object = {}): Promise<Row> => {
    const job = await launchJob(test, template, body);
    await endJob(test, job, 'failed');
    await test.database.execute(sql`
      INSERT INTO job_host_summaries (job_id, host_name, failed)
      VALUES (${job.id}, 'a', true), (${job.id}, 'b', false), (${job.id}, 'c', true)`);
    return job;
  };

  it('keeps the prompts, even if the template no longer accepts them', async () => {
    const template = await makeTemplate({
      ask_limit_on_launch: true,
      ask_variables_on_launch: true,
      extra_vars: 'a: 1',
    });
    const job = await launchJob(test, template, { limit: 'web', extra_vars: { b: 2 } });
    await endJob(test, job);
    const url = `job_templates/${template.id}/`;
    const change = { ask_limit_on_launch: false, ask_variables_on_launch: false, verbosity: 2 };
    await test.as.superuser.patch(url, change).expect(200);
    const response = await test.as.superuser.post(`jobs/${job.id}/relaunch/`).expect(201);
    expect(response.headers.location).toBe(response.body.url);
    expect(response.body).toMatchObject({
      job: response.body.id,
      launch_type: 'relaunch',
      limit: 'web',
      verbosity: 2,
      extra_vars: '{"a": 1, "b": 2}',
    });
  });

  it('can run on the failed hosts only', async () => {
    const job = await failedJob(await makeTemplate());
    const url = `jobs/${job.id}/relaunch/`;
    const needs = await test.as.superuser.get(url).expect(200);
    expect(needs.body).toEqual({
      passwords_needed_to_start: [],
      retry_counts: { all: 3, failed: 2 },
    });
    const { body } = await test.as.superuser.post(url, { hosts: 'failed' }).expect(201);
    expect(body.limit).toBe('a,c');
    await test.database.execute(sql`
      UPDATE job_host_summaries SET host_name = '*' WHERE job_id = ${job.id} AND host_name = 'a'`);
    const { body: refused } = await test.as.superuser.post(url, { hosts: 'failed' }).expect(400);
    expect(refused).toEqual({
      hosts: ['Cannot retry on failed hosts, because the name of a host is a pattern.'],
    });
  });

  it('does not run on failed hosts whose names are too long for a limit', async () => {
    const job = await failedJob(await makeTemplate());
    await test.database.execute(sql`
      INSERT INTO job_host_summaries (job_id, host_name, failed)
      SELECT ${job.id}, rpad(id::text, 512, 'x'), true FROM generate_series(1, 2100) id`);
    const url = `jobs/${job.id}/relaunch/`;
    const { body } = await test.as.superuser.post(url, { hosts: 'failed' }).expect(400);
    expect(body).toEqual({
      hosts: ['Cannot retry on failed hosts, because their names together are too long.'],
    });
  });

  it('on one failed host does not run on hosts that are named like a part of its name', async () => {
    const job = await failedJob(await makeTemplate());
    const rename = (name: string) =>
      test.database.execute(sql`
        UPDATE job_host_summaries SET host_name = ${name} WHERE job_id = ${job.id} AND failed`);
    await test.database.execute(sql`
      DELETE FROM job_host_summaries WHERE job_id = ${job.id} AND host_name = 'c'`);
    const relaunch = () => test.as.superuser.post(`jobs/${job.id}/relaunch/`, { hosts: 'failed' });
    await rename('web 1');
    // Ansible reads "web 1" as the two hosts "web" and "1".
    expect((await relaunch().expect(201)).body.limit).toBe('web 1,');
    await rename(' web');
    await relaunch().expect(400);
  });

  it.each<[string, string, () => Promise<Row>]>([
    [
      'Wait until job finishes before retrying on failed hosts.',
      'failed',
      async () => launchJob(test, await makeTemplate()),
    ],
    [
      'Cannot retry on failed hosts, playbook stats not available.',
      'failed',
      async () => {
        const job = await launchJob(test, await makeTemplate());
        await endJob(test, job, 'error');
        return job;
      },
    ],
    [
      'Cannot relaunch because previous job had 0 failed hosts.',
      'failed',
      async () => {
        const job = await launchJob(test, await makeTemplate());
        await endJob(test, job);
        await test.database.execute(
          sql`INSERT INTO job_host_summaries (job_id, host_name) VALUES (${job.id}, 'a')`,
        );
        return job;
      },
    ],
    ['"some" is not a valid choice.', 'some', async () => launchJob(test, await makeTemplate())],
  ])('%s', async (text, hosts, make) => {
    const job = await make();
    const { body } = await test.as.superuser
      .post(`jobs/${job.id}/relaunch/`, { hosts })
      .expect(400);
    expect(body).toEqual({ hosts: [text] });
  });

  it('requires the passwords again, and keeps secret answers for the user who gave them', async () => {
    const { as, make } = test;
    const credential = await make.credential({ inputs: { password: 'ASK' } });
    const template = await makeTemplate();
    const url = `job_templates/${template.id}/`;
    await as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
    const spec = [{ question_name: 'Pin', variable: 'pin', type: 'password', required: true }];
    await as.superuser.post(`${url}survey_spec/`, { name: '', description: '', spec }).expect(200);
    await as.superuser.patch(url, { survey_enabled: true }).expect(200);
    for (const user of [as.users.teamMember, as.users.nobody]) {
      await make.grant('job_template', template, 'execute_role', { user });
    }
    const credential_passwords = { ssh_password: 'x' };
    const job = await launchJob(
      test,
      template,
      { credential_passwords, extra_vars: { pin: '1' } },
      'nobody',
    );
    await endJob(test, job);
    const again = `jobs/${job.id}/relaunch/`;
    const needs = await as.nobody.get(again).expect(200);
    expect(needs.body.passwords_needed_to_start).toEqual(['ssh_password']);
    const missing = await as.nobody.post(again, {}).expect(400);
    expect(missing.body).toEqual({ passwords_needed_to_start: ['ssh_password'] });
    const other = await as.teamMember.post(again, { credential_passwords }).expect(403);
    expect(other.body).toEqual({
      detail: 'Job was launched with secret prompts provided by another user.',
    });
    const { body } = await as.nobody.post(again, { credential_passwords }).expect(201);
    expect(body.extra_vars).toBe('{"pin": "$encrypted$"}');
  });

  it('is refused if the caller may not use the objects of its prompts', async () => {
    const { as, make } = test;
    const template = await makeTemplate({ ask_inventory_on_launch: true });
    const other = await make.inventory();
    const job = await launchJob(test, template, { inventory: other.id });
    await endJob(test, job);
    await make.grant('job_template', template, 'execute_role', { user: as.users.nobody });
    const { body } = await as.nobody.post(`jobs/${job.id}/relaunch/`, {}).expect(403);
    expect(body).toEqual({
      detail: 'Job was launched with prompted fields you do not have access to.',
    });
  });

  it('ignores instance groups that were deleted', async () => {
    const { superuser } = test.as;
    const groups: number[] = [];
    for (const name of ['Kept', 'Deleted']) {
      groups.push((await superuser.post('instance_groups/', { name }).expect(201)).body.id);
    }
    const template = await makeTemplate({ ask_instance_groups_on_launch: true });
    const job = await launchJob(test, template, { instance_groups: groups });
    await endJob(test, job);
    await superuser.delete(`instance_groups/${groups[1]}/`).expect(204);
    const { body } = await superuser.post(`jobs/${job.id}/relaunch/`).expect(201);
    const stored = await test.database.row<Row>(sql`
      SELECT launch_config FROM unified_jobs WHERE id = ${body.id}`);
    expect(stored?.launch_config).toMatchObject({ instance_groups: [groups[0]] });
  });

  it('reports a prompted inventory that was deleted', async () => {
    const { superuser } = test.as;
    const gone = await test.make.inventory({ organization: test.home.organization.id });
    const template = await makeTemplate({ ask_inventory_on_launch: true });
    const job = await launchJob(test, template, { inventory: gone.id });
    await endJob(test, job);
    const detail = 'Job Template Inventory is missing or undefined.';
    const relaunch = () => superuser.post(`jobs/${job.id}/relaunch/`).expect(400);
    await superuser.delete(`inventories/${gone.id}/`).expect(202);
    expect((await relaunch()).body).toEqual({ detail });
    await test.database.execute(sql`DELETE FROM inventories WHERE id = ${gone.id}`);
    expect((await relaunch()).body).toEqual({ detail });
  });

  it('reports objects that were deleted', async () => {
    const template = await makeTemplate();
    const job = await launchJob(test, template);
    await endJob(test, job);
    const set = (columns: ReturnType<typeof sql>) =>
      test.database.execute(
        sql`UPDATE unified_job_templates SET ${columns} WHERE id = ${template.id}`,
      );
    const refused = async (text: string): Promise<void> => {
      const { body } = await test.as.orgAdmin.post(`jobs/${job.id}/relaunch/`, {}).expect(400);
      expect(body).toEqual({ detail: text });
    };
    await set(sql`inventory_id = NULL`);
    await refused('Job Template Inventory is missing or undefined.');
    await set(sql`project_id = NULL`);
    await refused('Job Template Project is missing or undefined.');
    await test.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${template.id}`);
    await refused('Job Template is missing or undefined.');
  });
});
