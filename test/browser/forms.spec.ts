/**
 * Budget: 30 s, because it fills the form of every resource.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages, openApi, pick } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

const SURVEY = {
  name: 'Release',
  description: '',
  spec: [
    { question_name: 'Which release?', variable: 'release', type: 'text', required: true },
    { question_name: 'How many at once?', variable: 'batch', type: 'integer', default: 5 },
    {
      question_name: 'Which regions?',
      variable: 'regions',
      type: 'multiselect',
      choices: ['north', 'south', '8'],
    },
    { question_name: 'Key', variable: 'key', type: 'password', default: 'hush hush' },
    { question_name: 'A note', variable: 'note', type: 'textarea' },
  ],
};

describePages('forms', session, (open, javaScriptEnabled) => {
  const stored = async (path: string): Promise<Record<string, unknown>> =>
    (await test.as.superuser.get(path).expect(200)).body as Record<string, unknown>;
  const lastJob = async (template: Row): Promise<Record<string, unknown>> => {
    const [job] = await test.database.rows<Row>(sql`
      SELECT id FROM unified_jobs WHERE unified_job_template_id = ${template.id}
      ORDER BY id DESC LIMIT 1`);
    return stored(`jobs/${job?.id}/`);
  };

  /** Fills in a document. Chromium logs an error of the policy if it types over the text of an editor. */
  async function fillDocument(id: string, text: string): Promise<void> {
    if (javaScriptEnabled) await open.page.locator(`.editor:has(+ #${id})`).waitFor();
    await open.page.locator(`#${id}`).fill(text);
  }

  it('cannot change an object if the page shows something else', async () => {
    const { page } = open;
    const team = await test.make.team({ description: 'kept' });
    await page.goto(`/api/v2/teams/${team.id}/`);
    await openApi(page);
    await page.getByRole('button', { name: 'Show options' }).click();
    await page.getByText('"renders"').waitFor();
    expect(await page.locator('#form-patch').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(team.name);
  });

  it('keep a text that matches no option, and are not sent without a choice', async () => {
    if (!javaScriptEnabled) return;
    const { page } = open;
    const name = `Chosen by typing ${String(test.home.organization.id)}`;
    const { id } = await test.make.organization({ name });
    await page.goto('/api/v2/projects/?_form=post');
    await page.locator('#post-name').fill('Not without one');
    const box = page.locator('#post-organization');
    await box.fill('there is none of this name');
    await page.locator('#post-name').focus();
    expect(await box.inputValue()).toBe('there is none of this name');
    await page.locator('#post-name').press('Enter');
    expect(await box.evaluate((element) => Reflect.get(element, 'validationMessage'))).toBe(
      'Choose one of the matches, or clear the field.',
    );
    expect((await stored('projects/?name=Not without one')).count).toBe(0);
    await box.fill(name);
    await page.getByRole('option', { name }).waitFor();
    await box.press('Enter');
    expect(await page.locator('input[name=organization]').inputValue()).toBe(String(id));
  });

  it('offer the nodes of the workflow for a link, named by their templates', async () => {
    if (!javaScriptEnabled) return;
    const { page } = open;
    const nodes: Row[] = [];
    const workflow = await test.make.workflowTemplate();
    for (const [name, parent] of [
      ['Build', workflow],
      ['Roll out', workflow],
      ['Elsewhere', await test.make.workflowTemplate()],
    ] as const) {
      const { id } = await test.make.jobTemplate({ name });
      nodes.push(await test.make.workflowNode(parent, { unified_job_template: id }));
    }
    await page.goto(
      `/api/v2/workflow_job_template_nodes/${nodes[0]?.id}/success_nodes/?_form=post`,
    );
    await page.locator('#attach-id').press('ArrowDown');
    const options = page.getByRole('option');
    await options.first().waitFor();
    expect(await options.allTextContents()).toEqual(['Build', 'Roll out']);
  });

  it('keep the values that have several fields, if the user changes none of them', async () => {
    const { page } = open;
    const rule = (hour: string) =>
      `DTSTART;TZID=Europe/Berlin:20300101T${hour}0000 RRULE:INTERVAL=1;FREQ=DAILY`;
    const template = await test.make.jobTemplate();
    const schedule = { name: 'Nightly', rrule: rule('02') };
    const { body: created } = await test.as.superuser
      .post(`job_templates/${template.id}/schedules/`, schedule)
      .expect(201);
    const configuration = (url: string) => ({ headers: {}, url, other: { kept: 1 } });
    const channel = await test.make.notificationTemplate({
      notification_type: 'webhook',
      notification_configuration: configuration('https://one.example.com/'),
    });
    const saveDescription = async (path: string, meanwhile: object): Promise<void> => {
      await page.goto(`/api/v2/${path}?_form=patch`);
      await test.as.superuser.patch(path, meanwhile).expect(200);
      await page.getByLabel('Description', { exact: true }).fill('Mine');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
    };
    await saveDescription(`schedules/${created.id}/`, { rrule: rule('05') });
    expect(await stored(`schedules/${created.id}/`)).toMatchObject({ rrule: rule('05') });
    const path = `notification_templates/${channel.id}/`;
    const moved = configuration('https://two.example.com/');
    await saveDescription(path, { notification_configuration: moved });
    expect(await stored(path)).toMatchObject({ notification_configuration: moved });
    await page.goto(`/api/v2/${path}?_form=patch`);
    await page.getByLabel('Username').fill('me');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await stored(path)).toMatchObject({
      notification_configuration: { ...moved, username: 'me' },
    });
  });

  it('show only one form after a refusal', async () => {
    const { page } = open;
    const team = await test.make.team({ description: 'kept' });
    await page.goto(`/api/v2/teams/${team.id}/?_form=patch`);
    await page.locator('#form-patch').getByText('Raw data').click();
    await fillDocument('raw-patch', '{"name": ""}');
    await page.getByRole('button', { name: 'PATCH' }).click();
    await page.getByText('400 Bad Request').waitFor();
    expect(await page.locator('#raw-patch').inputValue()).toBe('{"name": ""}');
    expect(await page.locator('#patch-name').count()).toBe(0);
  });

  it('show at a launch exactly the prompts of the template', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ ask_limit_on_launch: true, limit: 'web' });
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('link', { name: 'Launch…' }).click();
    const fields = page.locator('#form-post form.grid .field label');
    expect(await fields.allTextContents()).toEqual(['Limit']);
    expect(await page.locator('#post-limit').inputValue()).toBe('web');
    await page.locator('#post-limit').fill('web-7');
    await page.locator('#form-post').getByRole('button', { name: 'Launch' }).first().click();
    await page.getByText('Launched.').waitFor();
    expect(await lastJob(template)).toMatchObject({ limit: 'web-7' });
  });

  it('warn about ignored fields', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ ask_limit_on_launch: true });
    await page.goto(`/api/v2/job_templates/${template.id}/launch/`);
    const section = page.locator('details.form');
    await section.getByText('Raw data').click();
    await fillDocument('raw-post', '{"limit": "web-1", "forks": 3, "job_tags": "x"}');
    await section.getByRole('button', { name: 'POST' }).click();
    const warning = page.getByRole('alert');
    await warning.waitFor();
    expect(await warning.textContent()).toContain('Job tags, Forks');
    expect(await page.getByText('Done.', { exact: true }).count()).toBe(0);
    await page.reload();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('accept a survey as JSON and show its questions at the launch', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ survey_enabled: true });
    await page.goto(`/api/v2/job_templates/${template.id}/survey_spec/#form-post`);
    await page.locator('#form-post').getByText('Raw data').click();
    await fillDocument('raw-post', JSON.stringify(SURVEY));
    await page.locator('#form-post').getByRole('button', { name: 'POST' }).click();
    await page.getByText('Done.', { exact: true }).waitFor();

    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('link', { name: 'Launch…' }).click();
    await page.getByLabel('Which release?').fill('2026.11');
    expect(await page.getByLabel('How many at once?').inputValue()).toBe('5');
    await page.getByLabel('How many at once?').fill('7');
    for (const region of ['north', '8']) await page.getByLabel(region, { exact: true }).check();
    expect(await page.getByLabel('Key').getAttribute('type')).toBe('password');
    await page.locator('#form-post').getByRole('button', { name: 'Launch' }).first().click();
    await page.getByText('Launched.').waitFor();
    const { extra_vars: variables } = await lastJob(template);
    expect(JSON.parse(String(variables))).toEqual({
      release: '2026.11',
      batch: 7,
      regions: ['north', '8'],
      key: '$encrypted$',
    });
  });

  it('show the error of an answer and keep the other answers', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ survey_enabled: true });
    const spec = [{ question_name: 'Size', variable: 'size', type: 'text', min: 3 }];
    await test.as.superuser
      .post(`job_templates/${template.id}/survey_spec/`)
      .send({ name: '', description: '', spec: [...spec, ...SURVEY.spec] })
      .expect(200);
    await page.goto(`/api/v2/job_templates/${template.id}/launch/#form-post`);
    await page.getByLabel('Size').fill('x');
    await page.getByLabel('Which release?').fill('kept');
    await page.locator('#form-post').getByRole('button', { name: 'Launch' }).first().click();
    await page.getByText('400 Bad Request').waitFor();
    const errors = page.locator('[id="post-extra_vars.size-errors"]');
    expect(await errors.textContent()).toContain('is too small');
    expect(await page.getByLabel('Which release?').inputValue()).toBe('kept');
  });

  it('show fields for passwords that the credentials of a template lack', async () => {
    const { page } = open;
    const credential = await test.make.credential({
      organization: test.home.organization.id,
      inputs: { username: 'deploy', password: 'ASK' },
    });
    const template = await test.make.jobTemplate();
    await test.as.superuser
      .post(`job_templates/${template.id}/credentials/`)
      .send({ id: credential.id })
      .expect(204);
    await page.goto(`/api/v2/job_templates/${template.id}/launch/#form-post`);
    await page.getByLabel('Ssh password').fill('typed by hand');
    await page.locator('#form-post').getByRole('button', { name: 'Launch' }).first().click();
    await page.getByText('Launched.').waitFor();
  });

  it('show the survey questions of a workflow', async () => {
    const { page } = open;
    const workflow = await test.make.workflowTemplate({
      organization: test.home.organization.id,
      survey_enabled: true,
      ask_variables_on_launch: true,
    });
    await test.as.superuser
      .post(`workflow_job_templates/${workflow.id}/survey_spec/`)
      .send(SURVEY)
      .expect(200);
    await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
    await page.getByRole('link', { name: 'Launch…' }).click();
    await page.locator('#post-extra_vars').fill('typed: true');
    await page.getByLabel('Which release?').fill('1');
    await page.locator('#form-post').getByRole('button', { name: 'Launch' }).first().click();
    await page.getByText('Launched.').waitFor();
    const id = /\/(\d+)\/$/.exec(new URL(page.url()).pathname)?.[1];
    const { extra_vars: variables } = await stored(`workflow_jobs/${id}/`);
    expect(JSON.parse(String(variables))).toMatchObject({ typed: true, release: '1', batch: 5 });
  });

  it('test the filters of a webhook', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({
      webhook_service: 'service_a',
      webhook_filters: { refs: ['main'] },
    });
    await test.database.execute(sql`
      INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict, ref, ref_name, payload)
      VALUES (${template.id}, 'service_a', 'push', 'tried', 'ignored', 'refs/heads/side', 'side',
        '{"ref": "refs/heads/side"}')`);
    await page.goto(`/api/v2/job_templates/${template.id}/webhook/`);
    const refs = page.getByLabel('Branches and tags');
    expect(await refs.inputValue()).toBe('main');
    await refs.fill('side');
    await page.getByRole('button', { name: 'Test with received deliveries' }).click();
    await page.getByText('200 OK').waitFor();
    expect(await page.locator('.json').textContent()).toContain('"launches": 1');
  });

  it('omit the field for the template below a template', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    await page.goto(`/api/v2/job_templates/${template.id}/schedules/`);
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    expect(await page.locator('#post-unified_job_template').count()).toBe(0);
    await page.locator('#post-name').fill('Nightly');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Created.', { exact: true }).waitFor();
    await page
      .getByRole('link', { name: String(template.name), exact: true })
      .first()
      .click();
    await page.waitForURL(`**/api/v2/job_templates/${template.id}/`);
  });

  it('show the field for the parent outside of a parent', async () => {
    const { page } = open;
    const organization = await test.make.organization();
    await page.goto(`/api/v2/organizations/${organization.id}/teams/?_form=post`);
    expect(await page.locator('#post-organization').count()).toBe(0);
    await page.goto('/api/v2/teams/?_form=post');
    await pick(page.locator('#post-organization'), String(organization.name), javaScriptEnabled);
  });

  it('show a field and an error for each missing password of a credential', async () => {
    const { page } = open;
    const { as, make } = test;
    const template = await make.jobTemplate({ name: `Passwords ${javaScriptEnabled}` });
    const inputs = { username: 'deploy', password: 'ASK', become_password: 'ASK' };
    const { id } = await make.credential({ inputs });
    await as.superuser.post(`job_templates/${template.id}/credentials/`, { id }).expect(204);
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    for (const name of ['ssh_password', 'become_password']) {
      const errors = page.locator(`[id="post-credential_passwords.${name}-errors"]`);
      expect(await errors.textContent()).toContain('The launch needs this password.');
    }
    await page.getByLabel('SSH password').fill('one');
    await page.getByLabel('Become password').fill('two');
    const form = page.locator('details.form');
    await form.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.getByText('Launched.').waitFor();
  });
});
