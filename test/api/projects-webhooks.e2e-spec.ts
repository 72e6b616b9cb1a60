import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { boot, type TestApp } from '../support/boot.js';
import {
  deliveryHeaders,
  SERVICE_ROWS,
  WEBHOOK_SAMPLES,
  webhookSample,
} from '../support/payloads/webhooks.js';
import type { PersonaName } from '../support/personas.js';
import { addHook, type Hook } from '../support/webhooks.js';

const PUSH = webhookSample('service_a', 'push');
const PUSH_EVENTS = new Set([
  'push',
  'Push Hook',
  'Tag Push Hook',
  'repo:refs_changed',
  'mirror:repo_synchronized',
]);

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

let counter = 0;
const makeProject = (fields: object = {}): Promise<Row> =>
  test.make.row('project', {
    name: `Hooked ${(counter += 1)}`,
    organization: test.home.organization.id,
    scm_type: 'git',
    scm_url: 'https://code.invalid/project.git',
    ...fields,
  });
const armedProject = async (service: WebhookServiceName, fields: object = {}): Promise<Hook> =>
  addHook(test, await makeProject(fields), service);

/** Syncs that webhooks asked for; making a project starts one of its own. */
const syncsOf = async (hook: Hook): Promise<Row[]> =>
  (await hook.jobs()).filter(({ launch_type: type }) => type === 'webhook');

describe('a verified push', () => {
  const pushes = WEBHOOK_SAMPLES.filter(({ event }) => PUSH_EVENTS.has(event));

  it.each(pushes.map((sample) => [sample.service, sample.event, sample] as const))(
    'from %s (%s) syncs the project',
    async (service, _event, sample) => {
      const hook = await armedProject(service);
      const delivery = randomUUID();
      const { body } = await hook.send(sample, { delivery }).expect(202);
      const [update] = await syncsOf(hook);
      expect(body).toEqual({
        message: 'Project update queued.',
        delivery: expect.any(Number),
        job: update!.id,
        url: `/api/v2/project_updates/${update!.id}/`,
      });
      expect(update).toMatchObject({
        type: 'project_update',
        status: 'pending',
        scm_url: 'https://code.invalid/project.git',
        created_by_id: null,
        webhook_delivery_id: body.delivery,
      });
      const shown = await test.as.orgAdmin.get(body.url as string).expect(200);
      expect(shown.body).toMatchObject({
        launch_type: 'webhook',
        webhook_service: service,
        webhook_guid: delivery,
        launched_by: { id: hook.template.id, type: 'project' },
      });
    },
  );

  it('syncs once, even if it is repeated', async () => {
    const hook = await armedProject('service_a');
    const delivery = randomUUID();
    const copies = Array.from({ length: 10 }, () => hook.send(PUSH, { delivery }).expect(202));
    const answers = await Promise.all(copies);
    expect(new Set(answers.map(({ body }) => body.url as string)).size).toBe(1);
    expect(await syncsOf(hook)).toHaveLength(1);
  });

  it('can be redelivered from the delivery log by project admins', async () => {
    const hook = await armedProject('service_b');
    const first = await hook.send(webhookSample('service_b', 'Push Hook')).expect(202);
    const path = `projects/${hook.template.id}/webhook_deliveries/`;
    const { body } = await test.as.orgAdmin.get(path).expect(200);
    expect(body.results).toEqual([
      expect.objectContaining({ id: first.body.delivery, verdict: 'accepted' }),
    ]);
    const again = await test.as.orgAdmin.post(`${path}${first.body.delivery}/redeliver/`, {});
    expect([again.status, again.body.message]).toEqual([202, 'Project update queued.']);
    expect(await syncsOf(hook)).toHaveLength(2);
    await test.as.orgMember.post(`${path}${first.body.delivery}/redeliver/`, {}).expect(403);
  });
});

describe('another delivery', () => {
  const others = WEBHOOK_SAMPLES.filter(({ event }) => !PUSH_EVENTS.has(event));

  it.each(others.map((sample) => [sample.service, sample.event, sample] as const))(
    'such as %s %s is recorded and syncs nothing',
    async (service, _event, sample) => {
      const hook = await armedProject(service);
      const { body } = await hook.send(sample).expect(200);
      expect(body).toEqual({ message: 'Webhook ignored', delivery: expect.any(Number) });
      expect(await syncsOf(hook)).toEqual([]);
      expect(await hook.deliveries()).toEqual([
        expect.objectContaining({ verdict: 'ignored', reason: 'Only pushes sync a project.' }),
      ]);
    },
  );

  it('is refused without a valid signature', async () => {
    const hook = await armedProject('service_a');
    const template = await addHook(test, await test.make.jobTemplate(), 'service_a');
    const body = Buffer.from(JSON.stringify(PUSH.payload));
    const foreign = deliveryHeaders('service_a', 'push', body, template.key);
    await hook.post(body, foreign).expect(403);
    const good = deliveryHeaders('service_a', 'push', body, hook.key);
    await hook.post(body, good, hook.path('service_b')).expect(403);
    await hook.post(body, good, `/api/v2/job_templates/${hook.template.id}/service_a/`).expect(403);
    expect(await syncsOf(hook)).toEqual([]);
  });

  it('is refused and recorded if the project has no source', async () => {
    const hook = await armedProject('service_a');
    await test.database.execute(sql`
      UPDATE unified_job_templates SET scm_type = '' WHERE id = ${hook.template.id}`);
    await hook.send(PUSH).expect(400);
    expect(await syncsOf(hook)).toEqual([]);
    expect(await hook.deliveries()).toMatchObject([
      { verdict: 'rejected', reason: expect.stringContaining('has no source to be updated from') },
    ]);
  });

  it('is filtered, and the filters can be tested', async () => {
    const webhook_filters = { refs: ['release/*'] };
    const hook = await armedProject('service_a', { webhook_filters });
    await hook.send(PUSH).expect(200);
    await hook.send(webhookSample('service_a', 'pull_request')).expect(200);
    const release = { event: 'push', payload: { ...PUSH.payload, ref: 'refs/heads/release/7' } };
    await hook.send(release).expect(202);
    expect(await syncsOf(hook)).toHaveLength(1);
    const trial = `projects/${hook.template.id}/webhook_filters/test/`;
    const { body } = await test.as.orgAdmin.post(trial, { webhook_filters: {} }).expect(200);
    expect(body).toMatchObject({ launches: 2, count: 3 });
  });
});

describe('the webhook settings of a project', () => {
  const keyOf = async (project: Row): Promise<string> => {
    const { body } = await test.as.superuser.get(`projects/${project.id}/webhook_key/`).expect(200);
    return body.webhook_key as string;
  };
  const patch = (project: Row, fields: object) =>
    test.as.superuser.patch(`projects/${project.id}/`, fields);

  it('have no receiver without a service', async () => {
    const { body } = await patch(await makeProject({}), { webhook_service: '' }).expect(200);
    expect(body.related.webhook_receiver).toBe('');
  });

  it.each(SERVICE_ROWS)('contain a key with which a hook of %s can sign', async (service) => {
    const project = await makeProject({ webhook_service: service });
    const { body } = await test.as.superuser.get(`projects/${project.id}/`).expect(200);
    expect(body.related).toMatchObject({
      webhook_receiver: `/api/v2/projects/${project.id}/${service}/`,
      webhook_key: `/api/v2/projects/${project.id}/webhook_key/`,
      webhook_deliveries: `/api/v2/projects/${project.id}/webhook_deliveries/`,
    });
    const key = await keyOf(project);
    const push = WEBHOOK_SAMPLES.find(
      (sample) => sample.service === service && PUSH_EVENTS.has(sample.event),
    )!;
    const bytes = Buffer.from(JSON.stringify(push.payload));
    const headers = deliveryHeaders(service, push.event, bytes, key);
    const answer = await fetch(`${test.url}${body.related.webhook_receiver as string}`, {
      method: 'POST',
      headers,
      body: bytes,
    });
    expect(answer.status).toBe(202);
  });

  it('change the key with the service, and rotate it on request', async () => {
    const project = await makeProject();
    expect(await keyOf(project)).toBe('');
    const rotate = () => test.as.superuser.post(`projects/${project.id}/webhook_key/`);
    await rotate().expect(400);
    await patch(project, { webhook_service: 'service_a' }).expect(200);
    const first = await keyOf(project);
    expect(first).toMatch(/^[A-Za-z0-9]{50}$/);
    await patch(project, { webhook_service: 'service_a', description: 'same' }).expect(200);
    expect(await keyOf(project)).toBe(first);
    const rotated = await rotate().expect(201);
    expect(rotated.body.webhook_key).not.toBe(first);
    expect(await keyOf(project)).toBe(rotated.body.webhook_key);
    const trail = await test.as.superuser.get(`projects/${project.id}/activity_stream/`);
    expect(trail.body.results).toContainEqual(
      expect.objectContaining({
        operation: 'update',
        changes: { webhook_key: ['hidden', 'hidden'] },
      }),
    );
    const shown = await test.as.superuser.get(`projects/${project.id}/`).expect(200);
    expect(JSON.stringify([shown.body, trail.body])).not.toContain(rotated.body.webhook_key);
    await patch(project, { webhook_service: '' }).expect(200);
    expect(await keyOf(project)).toBe('');
  });

  it.each<[PersonaName, number]>([
    ['superuser', 200],
    ['orgAdmin', 200],
    ['teamAdmin', 200],
    ['teamMember', 403],
    ['auditor', 403],
    ['orgMember', 403],
    ['outsider', 403],
  ])('show the key to project admins: %s %d', async (persona, status) => {
    const project = await makeProject({ webhook_service: 'service_a' });
    const { as, make } = test;
    await make.grant('project', project, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('project', project, 'update_role', { user: as.users.teamMember });
    const path = `projects/${project.id}/webhook_key/`;
    await as[persona].get(path).expect(status);
    await as[persona].post(path).expect(status === 200 ? 201 : status);
  });

  it('require a source to sync from', async () => {
    const refused = { webhook_service: ['Webhooks are not supported for manual projects.'] };
    const manual = await test.make.project();
    const { body } = await patch(manual, { webhook_service: 'service_a' }).expect(400);
    expect(body).toEqual(refused);
    const project = await makeProject({ webhook_service: 'service_a' });
    await test.database.execute(sql`
      UPDATE unified_jobs SET status = 'successful' WHERE unified_job_template_id = ${project.id}`);
    const fields = { scm_type: '', scm_url: '', local_path: 'by-hand' };
    expect((await patch(project, fields).expect(400)).body).toEqual(refused);
    await patch(project, { ...fields, webhook_service: '' }).expect(200);
  });

  it('accept a token of the service only, and valid filters', async () => {
    const inputs = { token: 't' };
    const token = await test.make.credential({ namespace: 'service_a_token', inputs });
    const machine = await test.make.credential();
    const project = await makeProject({ webhook_service: 'service_b' });
    const mismatch = 'Must match the selected webhook service.';
    const faults: [object, object][] = [
      [{ webhook_credential: token.id }, { webhook_credential: [mismatch] }],
      [
        { webhook_credential: machine.id },
        { webhook_credential: ['Must be a Personal Access Token.'] },
      ],
      [
        { webhook_filters: { x: 1 } },
        { webhook_filters: [expect.stringContaining('is not a filter')] },
      ],
      [{ webhook_service: 'x' }, { webhook_service: ['"x" is not a valid choice.'] }],
    ];
    for (const [fields, errors] of faults) {
      expect((await patch(project, fields).expect(400)).body).toEqual(errors);
    }
    const both = { webhook_service: 'service_a', webhook_credential: token.id };
    const { body } = await patch(project, both).expect(200);
    expect(body.summary_fields.webhook_credential).toMatchObject({ id: token.id });
  });

  it('are copied without the key', async () => {
    const project = await makeProject({ webhook_service: 'service_a' });
    const path = `projects/${project.id}/copy/`;
    const { body } = await test.as.superuser.post(path, { name: 'Copied hook' }).expect(201);
    expect(body.webhook_service).toBe('service_a');
    const [mine, copied] = [await keyOf(project), await keyOf(body as Row)];
    expect(copied).toMatch(/^[A-Za-z0-9]{50}$/);
    expect(copied).not.toBe(mine);
  });
});

it('the pages of a project say what its webhook does, and offer none for a manual project', async () => {
  const pages = test.as.superuser.with({ accept: 'text/html' });
  const { id } = await makeProject();
  const { text } = await pages.get(`projects/${id}/`).expect(200);
  expect(text).toContain('Sync this project with every push to a repository.');
  await test.as.superuser.patch(`projects/${id}/`, { webhook_service: 'service_a' }).expect(200);
  const { text: connected } = await pages.get(`projects/${id}/`).expect(200);
  expect(connected).toContain('A repository of GitHub syncs this project.');
  const manual = await makeProject({ scm_type: '', scm_url: '' });
  for (const path of ['', 'webhook/']) {
    const page = await pages.get(`projects/${manual.id}/${path}`).expect(200);
    expect(page.text).not.toContain('value="service_a"');
  }
});
