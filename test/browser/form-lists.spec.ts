/** Values and lists of forms, posted as a browser does: no browser is needed. */
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { ReferenceLists } from '../../src/common/rest/reference-lists.service.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { decoded, htmlOf, optionsOf, wordsOf } from './html.js';
import { browserForm, type BrowserForm } from './posting.js';

let test: TestApp;
let project: Row;
let send: BrowserForm;

beforeAll(async () => {
  test = await boot();
  project = await test.make.project({ organization: test.home.organization.id });
  send = await browserForm(test, test.as.users.orgAdmin);
});
afterAll(() => test.close());

const listed = async (template: unknown, list: string): Promise<string[]> => {
  const { body } = await test.as.superuser.get(`job_templates/${String(template)}/${list}/`);
  return (body as { results: Row[] }).results.map(({ name }) => String(name)).toSorted();
};
const templateCalled = (name: string): Promise<Row | undefined> =>
  test.database.row<Row>(sql`SELECT id FROM unified_job_templates WHERE name = ${name}`);
const credential = (fields: object): Promise<Row> =>
  test.make.credential({ organization: test.home.organization.id, ...fields });

it('a form creates a template with its credentials and labels', async () => {
  const key = await credential({ name: 'Key' });
  const vault = await credential({ name: 'Vault', namespace: 'vault' });
  const label = { name: 'shop', organization: test.home.organization.id };
  const { body: known } = await test.as.superuser.post('labels/', label).expect(201);
  const answer = await send('/api/v2/job_templates/', {
    name: 'With lists',
    project: project.id,
    playbook: 'site.yml',
    ask_inventory_on_launch: 'true',
    credentials: ['', key.id, vault.id],
    labels: ['', (known as Row).id],
    new_labels: 'blue, shop , ',
  });
  expect(answer.status).toBe(303);
  const made = await templateCalled('With lists');
  expect(answer.headers.location).toBe(`/api/v2/job_templates/${made?.id}/`);
  expect(await listed(made?.id, 'credentials')).toEqual(['Key', 'Vault']);
  expect(await listed(made?.id, 'labels')).toEqual(['blue', 'shop']);
});

it.each([
  ['a second credential of a kind', 400, 'credentials', 'multiple'],
  ['a credential that does not exist', 400, 'credentials', 'unknown'],
  ['a credential of others', 403, 'credentials', 'foreign'],
])('a form saves nothing for %s', async (_what, status, field, which) => {
  const other = await test.make.organization();
  const ids = {
    multiple: [(await credential({})).id, (await credential({})).id],
    unknown: [999_999],
    foreign: [(await test.make.credential({ organization: other.id })).id],
  }[which];
  const name = `Refused ${which}`;
  const answer = await send('/api/v2/job_templates/', {
    name,
    project: project.id,
    playbook: 'site.yml',
    ask_inventory_on_launch: 'true',
    credentials: ids,
    new_labels: 'orphan',
  });
  expect(answer.status).toBe(status);
  expect(await templateCalled(name)).toBeUndefined();
  expect(answer.headers.location).toBeUndefined();
  expect(answer.text).toContain(`value="${name}"`);
  if (status === 400) expect(answer.text).toContain(`id="post-${field}-errors"`);
});

it('a form removes deselected objects, and keeps those that it did not show', async () => {
  const shown = await credential({ name: 'Shown' });
  const later = await credential({ name: 'Later', namespace: 'vault' });
  const template = await test.make.jobTemplate({ project: project.id });
  const path = `job_templates/${template.id}/credentials/`;
  for (const { id } of [shown, later]) await test.as.superuser.post(path, { id }).expect(204);
  const answer = await send(`/api/v2/job_templates/${template.id}/`, {
    _method: 'PATCH',
    _shown: [`credentials.${shown.id}`],
    name: 'Changed with its lists',
    credentials: [''],
  });
  expect(answer.status).toBe(303);
  expect(await listed(template.id, 'credentials')).toEqual(['Later']);
  expect(await templateCalled('Changed with its lists')).toEqual({ id: template.id });
});

it('a form does not undo what another user changed after it was opened', async () => {
  const template = await test.make.jobTemplate({
    project: project.id,
    name: 'Before',
    forks: 3,
    extra_vars: 'size: 1.0',
  });
  const path = `job_templates/${template.id}/`;
  const page = await htmlOf(test.as.orgAdmin, `/api/v2/${path}?_form=patch`);
  const shown = page.match(/(?<=name="_shown" value=")[^"]*/g) ?? [];
  const meanwhile = { name: 'By another user', extra_vars: 'size: 2.0', diff_mode: true };
  await test.as.superuser.patch(path, meanwhile).expect(200);
  const answer = await send(`/api/v2/${path}`, {
    _method: 'PATCH',
    _shown: shown,
    name: 'Before',
    description: 'Mine',
    project: project.id,
    forks: '7',
    extra_vars: 'size: 1.0',
    diff_mode: 'false',
  });
  expect(answer.status).toBe(303);
  const { body } = await test.as.superuser.get(path).expect(200);
  expect(body).toMatchObject({ ...meanwhile, description: 'Mine', forks: 7 });
});

it('a form that is shown again after a login does not remove what it did not show', async () => {
  const template = await test.make.jobTemplate({ project: project.id });
  const later = await credential({});
  const path = `job_templates/${template.id}/`;
  await test.as.superuser.post(`${path}credentials/`, { id: later.id }).expect(204);
  const shownAgain = async (form: object) => {
    const { outsider } = test.as.users;
    const late = await browserForm(test, outsider);
    await test.database.execute(sql`DELETE FROM sessions WHERE user_id = ${outsider.id}`);
    const { text } = await late(`/api/v2/${path}`, { ...form });
    const [, pending = ''] = /name="pending" value="([^"]*)"/.exec(text) ?? [];
    const page = await send(`/api/v2/${path}`, { _resume: decoded(pending) });
    expect(page.text).toContain('value="Typed"');
    return page.text.match(/(?<=name="_shown" value=")[^"]*/g);
  };
  const form = { _method: 'PATCH', name: 'Typed', credentials: [''] };
  expect(await shownAgain(form)).toBeNull();
  const entry = 'credentials.999';
  expect(await shownAgain({ ...form, _shown: entry })).toEqual([entry]);
});

it('a form that is shown again after a login keeps unknown keys of a configuration', async () => {
  const { id } = await test.make.notificationTemplate({
    organization: test.home.organization.id,
    notification_type: 'webhook',
    notification_configuration: { headers: {}, url: 'https://one.example.com/', other: 1 },
  });
  const path = `/api/v2/notification_templates/${id}/`;
  const values = { description: 'Typed', notification_type: 'webhook' };
  const pending = { path, method: 'PATCH', values, raw: null };
  const { text } = await send(path, { _resume: JSON.stringify(pending) });
  expect(text).toContain('Typed');
  const [, others = '{}'] = /name="notification_configuration" value="([^"]*)"/.exec(text) ?? [];
  expect(JSON.parse(decoded(others))).toEqual({ other: 1 });
});

it('a form offers choices for modules, HTTP methods and prompts beside their fields', async () => {
  const command = await htmlOf(test.as.superuser, 'ad_hoc_commands/?_form=post');
  expect(optionsOf(command, 'post-module_name').map(({ value }) => value)).toContain('shell');
  const webhook = 'notification_templates/?_with.notification_type=webhook';
  const form = await htmlOf(test.as.superuser, webhook);
  expect([...form.matchAll(/<dt>([^<]*)/g)].map(([, title]) => title)).toEqual(['Webhook']);
  const methods = optionsOf(form, 'post-notification_configuration.http_method');
  expect(methods.map(({ value }) => value)).toEqual(expect.arrayContaining(['POST', 'PUT']));
  const template = await htmlOf(test.as.orgAdmin, 'job_templates/?_form=post');
  expect(wordsOf(template).join(' ')).toContain('Prompt on launch for Credentials');
  expect(template.match(/name="ask_credential_on_launch"/g)).toHaveLength(2);
  // A text of one line has a control of one line, unless its value has more.
  expect(template).toMatch(/<input[^>]*name="limit"/);
  const { id } = await test.make.jobTemplate({ project: project.id, limit: 'a\nb' });
  const long = await htmlOf(test.as.superuser, `job_templates/${id}/?_form=patch`);
  expect(long).toMatch(/<textarea[^>]*name="limit"/);
});

it('the copy form requires only a name, and copies the lists', async () => {
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  const template = await test.make.jobTemplate({ project: project.id, inventory: inventory.id });
  const { id } = await credential({});
  await test.as.superuser.post(`job_templates/${template.id}/credentials/`, { id }).expect(204);
  const path = `/api/v2/job_templates/${template.id}/copy/`;
  const page = await htmlOf(test.as.orgAdmin, path);
  expect(page).toContain('id="post-name"');
  expect(page).not.toContain('post-credentials');
  expect((await send(path, { name: 'The copy' })).status).toBe(303);
  expect(await listed((await templateCalled('The copy'))?.id, 'credentials')).toHaveLength(1);
});

it('a select lists fifty objects and the chosen ones, and knows if there are more', async () => {
  const organization = await test.make.organization({});
  const made: number[] = [];
  for (let number = 10; number < 61; number += 1) {
    const name = `Choice ${number}`;
    made.push((await test.make.project({ organization: organization.id, name })).id);
  }
  const { id, username } = test.as.users.superuser;
  const actor = { id, username: String(username), isSuperuser: true, isSystemAuditor: false };
  const load = (chosen: unknown, from: number) =>
    test.app
      .get(ReferenceLists, { strict: false })
      .load(
        resource('project'),
        'read',
        chosen,
        actor,
        (alias) => sql`${ident(alias, 'id')} = ANY(${made.slice(from)}::int[])`,
      );
  const counts = async (chosen: unknown, from = 0) => {
    const { options, hasMore } = await load(chosen, from);
    return [options.length, hasMore];
  };
  expect(await counts([])).toEqual([50, true]);
  expect(await counts(made[0])).toEqual([51, false]);
  expect(await counts(made.at(-1))).toEqual([51, false]);
  expect(await counts([], 1)).toEqual([50, false]);
  expect(await counts(project.id, 1)).toEqual([51, false]);
});

it('a form keeps the numbers and the order of a document that the user did not change', async () => {
  const data = '{"b":1.0,"443":12345678901234567890,"80":{"9":1e5,"1":[-0,0.10]}}';
  const { id } = await test.make.jobTemplate({
    project: project.id,
    ask_variables_on_launch: true,
  });
  const rule = 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1';
  const { body } = await test.as.superuser
    .post(
      `job_templates/${id}/schedules/`,
      `{"name":"exact","rrule":"${rule}","extra_data":${data}}`,
    )
    .expect(201);
  const path = `schedules/${(body as Row).id}/`;
  const page = await htmlOf(test.as.superuser, `${path}?_form=patch`);
  const [, shown = ''] = /<textarea[^>]*name="extra_data"[^>]*>\n([^<]*)/.exec(page) ?? [];
  const changes = { _method: 'PATCH', name: 'renamed', extra_data: decoded(shown) };
  expect((await send(`/api/v2/${path}`, changes)).status).toBe(303);
  const { text } = await test.as.superuser.get(path);
  expect(text).toContain('"name":"renamed"');
  expect(text).toContain(`"extra_data":${data}`);
});

it('a form keeps the line ends of a text that the user did not change', async () => {
  const extra_vars = 'a: 1\nb: 2\n';
  const template = await test.make.jobTemplate({ project: project.id, extra_vars });
  const other = await test.make.organization();
  const { id } = await test.make.credential({ organization: other.id });
  await test.as.superuser.post(`job_templates/${template.id}/credentials/`, { id }).expect(204);
  const path = `job_templates/${template.id}/`;
  // Only a change of the variables needs permission to use the credential.
  await test.as.orgAdmin.patch(path, { extra_vars: 'a: 2' }).expect(403);
  const changes = { _method: 'PATCH', name: 'Renamed', extra_vars: 'a: 1\r\nb: 2\r\n' };
  expect((await send(`/api/v2/${path}`, changes)).status).toBe(303);
  const { body } = await test.as.superuser.get(path);
  expect(body).toMatchObject({ name: 'Renamed', extra_vars });
});

it('a form offers no inventory that is being deleted', async () => {
  const { id } = await test.make.inventory({ organization: test.home.organization.id });
  const offered = async () => {
    const page = await htmlOf(test.as.orgAdmin, 'job_templates/?_form=post');
    return optionsOf(page, 'post-inventory').map(({ value }) => value);
  };
  expect(await offered()).toContain(String(id));
  await test.database.execute(sql`UPDATE inventories SET pending_deletion = true WHERE id = ${id}`);
  expect(await offered()).not.toContain(String(id));
});
