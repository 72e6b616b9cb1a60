import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('variables keep numbers and order in every field', async () => {
  const { as, home, make } = test;
  const { id: organization } = home.organization;
  const sent = '{"b":1.0,"443":12345678901234567890,"80":{"9":1e5,"1":[-0,0.10]}}';
  const kept = sent.replaceAll(',', ', ').replaceAll(':', ': ');
  const named = (rest: string) =>
    `{"name":"exact ${Math.random()}","organization":${organization},${rest}}`;
  const ask = { ask_variables_on_launch: true };
  const inventory = await make.inventory({ organization });
  const template = await make.jobTemplate({ organization, ...ask });
  const post = (path: string, body: string) => as.superuser.post(path, body).expect(201);
  const made = async (path: string, body: string) => (await post(path, body)).body;

  const hosts = `inventories/${inventory.id}/hosts/`;
  const { body: host } = await post(hosts, `{"name":"one","variables":${sent}}`);
  expect(host.variables).toBe(kept);
  const data = `hosts/${host.id}/variable_data/`;
  expect((await as.superuser.get(data)).text).toBe(sent);
  expect((await as.superuser.patch(data, '{"9":2.0}')).text).toBe(`${sent.slice(0, -1)},"9":2.0}`);
  expect((await as.superuser.put(data, sent)).text).toBe(sent);
  const bulk = `{"inventory":${inventory.id},"hosts":[{"name":"two","variables":${sent}}]}`;
  expect((await made('bulk/host_create/', bulk)).hosts[0].variables).toBe(kept);

  expect((await made('inventories/', named(`"variables":${sent}`))).variables).toBe(kept);
  for (const path of ['workflow_job_templates/', 'job_templates/']) {
    const fields =
      path === 'job_templates/'
        ? `"project":${template.project_id},"inventory":${inventory.id},"playbook":"site.yml",`
        : '';
    expect((await made(path, named(`${fields}"extra_vars":${sent}`))).extra_vars).toBe(kept);
  }
  const rule = '"rrule":"DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"';
  const schedule = await post(
    `job_templates/${template.id}/schedules/`,
    `{"name":"exact",${rule},"extra_data":${sent}}`,
  );
  expect(schedule.text).toContain(`"extra_data":${sent}`);
  const workflow = await made('workflow_job_templates/', named('"description":""'));
  const node = await post(
    `workflow_job_templates/${workflow.id}/workflow_nodes/`,
    `{"unified_job_template":${template.id},"extra_data":${JSON.stringify(sent)}}`,
  );
  expect(node.text).toContain(`"extra_data":${sent}`);
  const jobs = `[{"unified_job_template":${template.id},"extra_vars":${sent}}]`;
  const { body: launched } = await post('bulk/job_launch/', named(`"jobs":${jobs}`));
  const nodes = await as.superuser.get(`workflow_jobs/${launched.id}/workflow_nodes/`);
  expect(nodes.text).toContain(`"extra_data":${sent}`);
});

it('fields other than variables accept numbers in every notation', async () => {
  const { as, home } = test;
  const path = `teams/${home.team.id}/users/`;
  const { id } = await test.make.user();
  await as.superuser.post(path, `{"id":${id}.0}`).expect(204);
  await as.superuser.post(path, `{"id":${id}.0,"disassociate":1.0}`).expect(204);
  const team = `{"name":"Formed","organization":${home.organization.id}.0}`;
  await as.superuser.post('teams/', team).expect(201);
});

describe('the variables of an inventory', () => {
  const FAULT = 'The variables of the inventory are together larger than 67108864 bytes.';
  const LARGE = sql`'{"a": "' || repeat('x', 1048000) || '"}'`;

  it('are not read if those of the hosts together are too large', async () => {
    const inventory = await test.make.inventory({ organization: test.home.organization.id });
    const add = (from: number, to: number) =>
      test.database.execute(sql`
        INSERT INTO hosts (inventory_id, name, variables)
        SELECT ${inventory.id}, 'h' || number, ${LARGE} FROM generate_series(${from}::int, ${to}::int) number`);
    const script = `inventories/${inventory.id}/script/`;
    await add(1, 10);
    await test.as.orgAdmin.get(script).expect(200);
    await add(11, 65);
    expect((await test.as.orgAdmin.get(script).expect(400)).body).toEqual({ detail: FAULT });
    await test.as.orgAdmin.get(`${script}?host=h1`).expect(200);
  });

  it('are not read if those of the groups together are too large', async () => {
    const inventory = await test.make.inventory({ organization: test.home.organization.id });
    await test.database.execute(sql`
      INSERT INTO groups (inventory_id, name, variables)
      SELECT ${inventory.id}, 'g' || number, ${LARGE} FROM generate_series(1, 65) number`);
    for (const path of ['script/', 'tree/']) {
      const { body } = await test.as.orgAdmin
        .get(`inventories/${inventory.id}/${path}`)
        .expect(400);
      expect(body).toEqual({ detail: FAULT });
    }
  });

  it('are not repeated in a tree until they are too large', async () => {
    const inventory = await test.make.inventory({ organization: test.home.organization.id });
    await test.database.execute(sql`
      WITH made AS (
        INSERT INTO groups (inventory_id, name, variables)
        SELECT ${inventory.id}, 'g' || number, CASE WHEN number = 0 THEN ${LARGE} ELSE '' END
        FROM generate_series(0, 65) number
        RETURNING id, name)
      INSERT INTO group_children (parent_id, child_id)
      SELECT parent.id, child.id FROM made parent JOIN made child ON child.name = 'g0'
      WHERE parent.name <> 'g0'`);
    const { body } = await test.as.orgAdmin.get(`inventories/${inventory.id}/tree/`).expect(400);
    expect(body.detail).toContain('The tree has more than 67108864 characters of variables.');
  });
});
