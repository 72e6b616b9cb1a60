import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { StdoutService } from '../../src/runs/output/stdout.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { endJob, launchJob } from '../support/runs.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
let project: Row;
beforeAll(async () => {
  test = await boot({ settings: { STDOUT_MAX_BYTES_DISPLAY: '2000' } });
  const owned = { organization: test.home.organization.id };
  inventory = await test.make.inventory(owned);
  project = await test.make.project(owned);
});
afterAll(() => test.close());

const makeTemplate = (fields: object = {}): Promise<Row> =>
  test.make.jobTemplate({ inventory: inventory.id, project: project.id, ...fields });

async function addEvents(job: Row, outputs: readonly string[]): Promise<void> {
  let line = 0;
  for (const [index, stdout] of outputs.entries()) {
    const lines = stdout === '' ? 0 : stdout.split('\n').length;
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, stdout, start_line, end_line)
      VALUES (${job.id}, ${index + 1}, 'verbose', ${stdout}, ${line}, ${line + lines})`);
    line += lines;
  }
}

const RIGHTS: Record<
  PersonaName,
  readonly [read: number, cancel: number, relaunch: number, remove: number]
> = {
  superuser: [200, 202, 201, 204],
  auditor: [200, 403, 403, 403],
  orgAdmin: [200, 202, 201, 204],
  orgMember: [403, 403, 403, 403],
  // Admin of the template.
  teamAdmin: [200, 202, 201, 403],
  // May launch the template.
  teamMember: [200, 403, 201, 403],
  outsider: [403, 403, 403, 403],
  nobody: [403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, cancel, relaunch, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${cancel} canceling, ${relaunch} relaunching, ${remove} deleting`, async () => {
    const { as, make } = test;
    const template = await makeTemplate();
    await make.grant('job_template', template, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('job_template', template, 'execute_role', { user: as.users.teamMember });
    const job = await launchJob(test, template);
    const url = `jobs/${job.id}/`;
    await as[name].get(url).expect(read);
    for (const path of ['stdout', 'job_events', 'job_host_summaries', 'cancel', 'relaunch']) {
      await as[name].get(`${url}${path}/`).expect(read);
    }
    await as[name].post(`${url}cancel/`).expect(cancel);
    await as[name].post(`${url}relaunch/`, {}).expect(relaunch);
    await endJob(test, job);
    await as[name].delete(url).expect(remove);
    const listed = await as[name].get(`jobs/?id=${job.id}`).expect(200);
    expect(listed.body.count).toBe(read === 200 && remove !== 204 ? 1 : 0);
  });
});

it('the user who launched a job may cancel it, and others with execute may not', async () => {
  const { as, make } = test;
  const template = await makeTemplate();
  for (const user of [as.users.teamMember, as.users.nobody]) {
    await make.grant('job_template', template, 'execute_role', { user });
  }
  const job = await launchJob(test, template, {}, 'teamMember');
  await as.nobody.post(`jobs/${job.id}/cancel/`).expect(403);
  await as.teamMember.post(`jobs/${job.id}/cancel/`).expect(202);
});

describe('cancel', () => {
  it('ends a waiting job immediately, and updates the template', async () => {
    const template = await makeTemplate();
    const job = await launchJob(test, template);
    const url = `jobs/${job.id}/`;
    expect((await test.as.superuser.get(`${url}cancel/`)).body).toEqual({ can_cancel: true });
    const { body } = await test.as.superuser.post(`${url}cancel/`).expect(202);
    expect(body).toEqual({});
    const shown = await test.as.superuser.get(url).expect(200);
    expect(shown.body).toMatchObject({ status: 'canceled', failed: true });
    expect(shown.body.canceled_on).not.toBeNull();
    expect((await test.as.superuser.get(`${url}cancel/`)).body).toEqual({ can_cancel: false });
    await test.as.superuser.post(`${url}cancel/`).expect(405);
    const after = await test.as.superuser.get(`job_templates/${template.id}/`).expect(200);
    expect(after.body).toMatchObject({ status: 'canceled', last_job_failed: true });
  });

  it('requests that the worker stops a running job, and can be repeated', async () => {
    const job = await launchJob(test, await makeTemplate());
    await test.database.execute(sql`
      UPDATE unified_jobs SET status = 'running', started = now() - interval '7 s'
      WHERE id = ${job.id}`);
    await test.as.superuser.post(`jobs/${job.id}/cancel/`).expect(202);
    await test.as.superuser.post(`jobs/${job.id}/cancel/`).expect(202);
    const { body } = await test.as.superuser.get(`jobs/${job.id}/`).expect(200);
    expect(body.status).toBe('running');
    expect(body.elapsed).toBeGreaterThanOrEqual(7);
  });
});

describe('delete', () => {
  it('is refused until the job has ended and its events are stored', async () => {
    const job = await launchJob(test, await makeTemplate());
    const url = `jobs/${job.id}/`;
    const active = await test.as.superuser.delete(url).expect(403);
    expect(active.body).toEqual({ detail: 'Cannot delete running job resource.' });
    await endJob(test, job);
    await test.database.execute(
      sql`UPDATE unified_jobs SET event_processing_finished = false WHERE id = ${job.id}`,
    );
    const settling = await test.as.superuser.delete(url).expect(400);
    expect(settling.body).toEqual({ detail: 'Job has not finished processing events.' });
    await test.database.execute(
      sql`UPDATE unified_jobs SET finished = now() - interval '61 s' WHERE id = ${job.id}`,
    );
    await addEvents(job, ['x']);
    await test.as.superuser.delete(url).expect(204);
    await test.as.superuser.get(url).expect(404);
    const events = await test.as.superuser.get(`job_events/?job=${job.id}`).expect(200);
    expect(events.body.count).toBe(0);
  });
});

describe('stdout', () => {
  let url: string;
  beforeAll(async () => {
    const job = await launchJob(test, await makeTemplate());
    url = `jobs/${job.id}/stdout/`;
    await addEvents(job, ['one\ntwo', '', '\u001B[0;31m<three>\u001B[0m', 'four']);
  });

  it('is available in every format', async () => {
    const text = (path: string) => test.as.superuser.get(`${url}${path}`).expect(200);
    const json = await text('');
    expect(json.body).toEqual({
      range: { start: 0, end: 4, absolute_end: 4 },
      content: 'one\ntwo\n\u001B[0;31m<three>\u001B[0m\nfour\n',
    });
    expect((await text('?format=txt')).text).toBe('one\ntwo\n<three>\nfour\n');
    expect((await text('?format=ansi')).text).toBe(json.body.content);
    const html = await text('?format=html&content_only=1');
    expect(html.text).toBe(
      '<pre class="stdout">one\ntwo\n<span class="ansi-red">&lt;three&gt;</span>\nfour\n</pre>',
    );
    expect(html.headers['content-type']).toMatch('text/html');
    const encoded = await text('?format=json&content_encoding=base64');
    expect(Buffer.from(encoded.body.content, 'base64').toString()).toBe(json.body.content);
    const download = await text('?format=txt_download');
    expect(download.text).toBe('one\ntwo\n<three>\nfour\n');
    expect(download.headers['content-disposition']).toMatch(
      /^attachment; filename="job_\d+\.txt"$/,
    );
    expect((await text('?format=ansi_download')).text).toBe(json.body.content);
    await test.as.superuser.get(`${url}?format=pdf`).expect(404);
    const plain = await test.as.superuser.with({ Accept: 'text/plain' }).get(url).expect(200);
    expect(plain.text).toBe('one\ntwo\n<three>\nfour\n');
    const page = await test.as.superuser.with({ Accept: 'text/html' }).get(url).expect(200);
    expect(page.text).toMatch(/^<!doctype html>/);
  });

  it('returns a range of lines', async () => {
    const { body } = await test.as.superuser.get(`${url}?start_line=1&end_line=3`).expect(200);
    expect(body).toEqual({
      range: { start: 1, end: 3, absolute_end: 4 },
      content: 'two\n\u001B[0;31m<three>\u001B[0m\n',
    });
    await test.as.superuser.get(`${url}?start_line=x`).expect(400);
  });

  it('returns large output only as a download or in ranges', async () => {
    const job = await launchJob(test, await makeTemplate());
    const lines = Array.from({ length: 1500 }, (_, index) => `line ${index}`);
    await addEvents(job, [lines.slice(0, 750).join('\n'), lines.slice(750).join('\n'), 'end']);
    const large = `jobs/${job.id}/stdout/`;
    const { text } = await test.as.superuser.get(`${large}?format=txt`).expect(200);
    expect(text).toMatch(
      /^Standard Output too large to display \(\d+ bytes\), only download supported for sizes over 2000 bytes\.$/,
    );
    const download = await test.as.superuser.get(`${large}?format=txt_download`).expect(200);
    expect(download.text).toBe(`${[...lines, 'end'].join('\n')}\n`);
    const part = await test.as.superuser.get(`${large}?start_line=1500`).expect(200);
    expect(part.body.content).toBe('end\n');
  });

  it('reads a download in parts of a limited size', async () => {
    const job = await launchJob(test, await makeTemplate());
    const output = 'x'.repeat(700_000);
    await addEvents(job, ['', output, output, output, 'end']);
    const outputs = test.app.get(StdoutService, { strict: false });
    const options = { colors: true, reauthorize: jest.fn() };
    const sizes = [];
    for await (const part of outputs.stream(job.id, options)) sizes.push(String(part).length);
    expect(sizes).toEqual([1_400_002, 700_005]);
  });
});

it('variables are returned in the form that clients compare', async () => {
  const template = await makeTemplate({ ask_variables_on_launch: true });
  const extra_vars = { a: 'b', c: 1, deep: { list: [true, 'x: y, "z"'], name: 'Zoë' } };
  const text = '{"a": "b", "c": 1, "deep": {"list": [true, "x: y, \\"z\\""], "name": "Zoë"}}';
  const as = test.as.superuser;
  const { body } = await as
    .post(`job_templates/${template.id}/launch/`, { extra_vars })
    .expect(201);
  const job = body as Row;
  const { body: detail } = await as.get(`jobs/${job.id}/`).expect(200);
  const lists = await Promise.all(
    ['jobs', 'unified_jobs'].map((path) => as.get(`${path}/?id=${job.id}`).expect(200)),
  );
  await endJob(test, job);
  const { body: again } = await as.post(`jobs/${job.id}/relaunch/`, {}).expect(201);
  const shown = [job, detail, ...lists.map((list) => list.body.results[0] as Row), again];
  expect(shown.map((one: Row) => one.extra_vars)).toEqual(shown.map(() => text));
});

it('webhook variables are shown, and the payload only in the detail view', async () => {
  const template = await makeTemplate({ webhook_service: 'service_a' });
  const job = await launchJob(test, template);
  const [delivery] = await test.database.rows<Row>(sql`
    INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, verdict, payload)
    VALUES (${template.id}, 'service_a', 'push', 'g-1', 'abc', 'accepted', '{"after":"abc"}')
    RETURNING id`);
  await test.database.execute(sql`
    UPDATE unified_jobs SET launch_type = 'webhook', created_by_id = NULL, webhook_guid = 'g-1',
      webhook_service = 'service_a', webhook_delivery_id = ${delivery!.id} WHERE id = ${job.id}`);
  const detail = await test.as.superuser.get(`jobs/${job.id}/`).expect(200);
  expect(JSON.parse(detail.body.extra_vars)).toMatchObject({
    svc_webhook_event_type: 'push',
    svc_webhook_event_guid: 'g-1',
    svc_webhook_event_ref: 'abc',
    svc_webhook_payload: { after: 'abc' },
    awx_webhook_payload: { after: 'abc' },
    tower_webhook_event_ref: 'abc',
  });
  expect(detail.body.launched_by).toMatchObject({ id: template.id, type: 'job_template' });
  const list = await test.as.superuser.get(`jobs/?id=${job.id}`).expect(200);
  const shown = JSON.parse(list.body.results[0].extra_vars);
  expect(shown).toMatchObject({ svc_webhook_event_ref: 'abc' });
  for (const prefix of ['svc', 'awx', 'tower']) {
    expect(shown).not.toHaveProperty(`${prefix}_webhook_payload`);
  }
  await endJob(test, job);
  const again = await test.as.superuser.post(`jobs/${job.id}/relaunch/`, {}).expect(201);
  expect(again.body.webhook_guid).toBe('g-1');
  expect(again.body.extra_vars).toBe(detail.body.extra_vars);
});

it('all links of the contract work, and jobs cannot be changed', async () => {
  const job = await launchJob(test, await makeTemplate());
  expect(Object.keys(job.related as object)).toEqual(
    expect.arrayContaining([
      ...['created_by', 'unified_job_template', 'job_template', 'stdout', 'job_events'],
      ...['job_host_summaries', 'activity_stream', 'notifications', 'credentials', 'cancel'],
      ...['relaunch', 'inventory', 'project', 'organization'],
    ]),
  );
  for (const path of Object.values(job.related as object) as string[]) {
    await test.as.superuser.get(path).expect(200);
  }
  expect(job.summary_fields).toMatchObject({
    unified_job_template: { unified_job_type: 'job' },
    user_capabilities: { delete: true, start: true },
  });
  const url = `jobs/${job.id}/`;
  await test.as.superuser.post('jobs/', {}).expect(405);
  await test.as.superuser.patch(url, {}).expect(405);
  await test.as.superuser.put(url, {}).expect(405);
});

it('lists omit long fields', async () => {
  await launchJob(test, await makeTemplate());
  const { body } = await test.as.superuser.get('jobs/?page_size=1').expect(200);
  const keys = Object.keys(body.results[0]);
  for (const name of ['job_args', 'job_cwd', 'job_env', 'result_traceback', 'host_status_counts']) {
    expect(keys).not.toContain(name);
  }
});

it('fifty jobs need as many statements as one', async () => {
  const template = await makeTemplate({ allow_simultaneous: true });
  const credential = await test.make.credential();
  const url = `job_templates/${template.id}/`;
  await test.as.superuser.post(`${url}credentials/`, { id: credential.id }).expect(204);
  for (let i = 0; i < 50; i++) await launchJob(test, template);
  await samePageQueries(test.database, test.as.orgAdmin, 'jobs/?order_by=-id', [1, 50]);
});
