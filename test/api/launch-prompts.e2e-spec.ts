import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { LaunchLoader } from '../../src/launching/launch.loader.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, ...fields });

const launch = (template: Row, body: object) =>
  test.as.superuser.post(`job_templates/${template.id}/launch/`, body);

/** Option that enables the prompt, value that the launch sends, and resulting value of the job. */
const PROMPTS: readonly (readonly [field: string, ask: string, value: unknown])[] = [
  ['limit', 'ask_limit_on_launch', 'web*'],
  ['job_tags', 'ask_tags_on_launch', 'deploy'],
  ['skip_tags', 'ask_skip_tags_on_launch', 'slow'],
  ['job_type', 'ask_job_type_on_launch', 'check'],
  ['verbosity', 'ask_verbosity_on_launch', 3],
  ['diff_mode', 'ask_diff_mode_on_launch', true],
  ['forks', 'ask_forks_on_launch', 7],
  ['timeout', 'ask_timeout_on_launch', 90],
];

describe.each(PROMPTS)('%s', (field, ask, value) => {
  it('is used if the template prompts for it', async () => {
    const { body } = await launch(await makeTemplate({ [ask]: true }), { [field]: value });
    expect(body).toMatchObject({ [field]: value, ignored_fields: {}, status: 'pending' });
  });

  it('is accepted and listed as ignored if the template does not prompt for it', async () => {
    const template = await makeTemplate();
    const { body } = await launch(template, { [field]: value }).expect(201);
    expect(body.ignored_fields).toEqual({ [field]: value });
    expect(body[field]).toEqual(template[field]);
  });
});

it('a text that is too long for an argument of a program is refused', async () => {
  const text = '\u{1f680}'.repeat(32_000);
  const tooLong = ['Ensure this field has no more than 32000 characters.'];
  const template = await makeTemplate({ ask_tags_on_launch: true, job_tags: text });
  const path = `job_templates/${template.id}/`;
  const refused = { job_tags: tooLong };
  await test.as.superuser.patch(path, { job_tags: `${text}x` }).expect(400, refused);
  expect((await launch(template, { job_tags: `${text}x` }).expect(400)).body).toEqual(refused);
  const command = { inventory: inventory.id, module_name: 'shell', module_args: `${text}x` };
  const { body } = await test.as.superuser.post('ad_hoc_commands/', command).expect(400);
  expect(body).toEqual({ module_args: tooLong });
});

it('an instance group is accepted from users with use on it', async () => {
  const { as, make, database } = test;
  const group = await database.row<Row>(sql`SELECT id, name FROM instance_groups`);
  const template = await makeTemplate({ ask_instance_groups_on_launch: true });
  const user = await make.user();
  await make.grant('job_template', template, 'execute_role', { user });
  const client = await as.asUser(user);
  const send = () =>
    client.post(`job_templates/${template.id}/launch/`, { instance_groups: [group!.id] });
  await send().expect(403);
  await make.grant('instance_group', group!, 'use_role', { user });
  expect((await send().expect(201)).body.ignored_fields).toEqual({});
});

it('a prompted inventory is used, and one without a prompt is reported as ignored', async () => {
  const other = await test.make.inventory({ organization: test.home.organization.id });
  const asking = await makeTemplate({ ask_inventory_on_launch: true });
  const used = await launch(asking, { inventory: String(other.id) }).expect(201);
  expect(used.body).toMatchObject({ inventory: other.id, ignored_fields: {} });
  const fixed = await launch(await makeTemplate(), { inventory: other.id }).expect(201);
  expect(fixed.body).toMatchObject({
    inventory: inventory.id,
    ignored_fields: { inventory: other.id },
  });
});

it('the fields of a launch are not found if the template is deleted meanwhile', async () => {
  const { app, as, database, make } = test;
  const loader = app.get(LaunchLoader, { strict: false });
  const remove = ({ id }: Row): Promise<unknown> =>
    database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${id}`);
  const template = await makeTemplate();
  const workflow = await make.workflowTemplate();
  const { load, workflows } = loader;
  jest.spyOn(loader, 'load').mockImplementationOnce(async (...values) => {
    await remove(template);
    return load.apply(loader, values);
  });
  await as.superuser.get(`job_templates/${template.id}/launch/`).expect(404);
  jest.spyOn(loader, 'workflows').mockImplementationOnce(async (...values) => {
    await remove(workflow);
    return workflows.apply(loader, values);
  });
  await as.superuser.get(`workflow_job_templates/${workflow.id}/launch/`).expect(404);
});
