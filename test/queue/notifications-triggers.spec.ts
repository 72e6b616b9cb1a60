import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunChanges } from '../../src/runs/run-changes.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { Notifier } from '../../src/notifications/notifier.handler.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { countQueries } from '../support/queries.js';

let http: HttpSink;
let test: TestApp;
let worker: INestApplicationContext;
let project: Row;
let jobTemplate: Row;

beforeAll(async () => {
  http = await HttpSink.start();
  test = await boot({ settings: { BASE_URL: 'https://controller.example/' } });
  worker = await bootWorker(test);
  project = await test.make.project({ organization: test.home.organization.id });
  jobTemplate = await test.make.jobTemplate({ project: project.id });
});
afterAll(async () => {
  await worker.close();
  await test.close();
  await http.close();
});
afterEach(async () => {
  await test.database.execute(sql`DELETE FROM template_notifications`);
  await test.database.execute(sql`DELETE FROM organization_notifications`);
  http.requests.length = 0;
});

const hook = (messages: object | null = null): Promise<Row> =>
  test.make.notificationTemplate({
    organization: test.home.organization.id,
    messages,
    notification_configuration: { url: `${http.url}/hook`, headers: {} },
  });

async function attach(template: Row, to: Row, event: string): Promise<void> {
  await test.database.execute(sql`
    INSERT INTO template_notifications (unified_job_template_id, notification_template_id, event)
    VALUES (${to.id}, ${template.id}, ${event})`);
}

async function job(status: JobStatus): Promise<number> {
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      project_id, inventory_id, organization_id, playbook, extra_vars, started, finished,
      created_by_id)
    VALUES ('job', 'deploy', ${status}, ${jobTemplate.id}, ${jobTemplate.id}, ${project.id},
      ${jobTemplate.inventory_id}, ${test.home.organization.id}, 'site.yml', '{"a": 1}', now(),
      ${status === 'running' ? null : new Date().toISOString()}::timestamptz,
      ${test.as.users.orgAdmin.id})
    RETURNING id`);
  return row!.id;
}

const publish = (...changes: [jobId: number, status: JobStatus][]): Promise<void> =>
  test.database.transaction(() =>
    test.app
      .get(RunChanges, { strict: false })
      .publish(changes.map(([jobId, status]) => ({ jobId, type: 'job', status }))),
  );

const recordsOf = (jobId: number) =>
  test.database.rows<{ id: number; event: string; status: string; body: Row; subject: string }>(sql`
    SELECT id, event, status, body, subject FROM notifications
    WHERE unified_job_id = ${jobId} ORDER BY id`);

const sentFor = (jobId: number) =>
  eventually(async () => {
    const records = await recordsOf(jobId);
    expect(records.map(({ status }) => status)).not.toContain('pending');
    return records;
  }, 20_000);

it('each template is sent once, even if it is attached or triggered repeatedly', async () => {
  const everywhere = await hook();
  const ofOrganization = await hook();
  await attach(everywhere, jobTemplate, 'success');
  await attach(everywhere, project, 'success');
  for (const template of [everywhere, ofOrganization]) {
    await test.database.execute(sql`
      INSERT INTO organization_notifications (organization_id, notification_template_id, event)
      VALUES (${test.home.organization.id}, ${template.id}, 'success')`);
  }
  const id = await job('successful');
  await publish([id, 'successful']);
  await publish([id, 'successful']);
  expect((await sentFor(id)).map(({ event }) => event)).toEqual(['success', 'success']);
  const sent = http.requests.filter(({ body }) => (JSON.parse(body) as Row).id === id);
  expect(sent).toHaveLength(2);
  const queued = await test.database.rows(sql`
    SELECT 1 FROM outbox WHERE queue = 'notifications'
      AND subject_id IN (SELECT id FROM notifications WHERE unified_job_id = ${id})`);
  expect(queued).toEqual([]);
});

describe('notifications are inherited', () => {
  const organizationEvent = (organization: Row, template: Row, event: string) =>
    test.database.execute(sql`
      INSERT INTO organization_notifications (organization_id, notification_template_id, event)
      VALUES (${organization.id}, ${template.id}, ${event})`);
  const firedFor = async (jobId: number, status: JobStatus): Promise<number[]> => {
    await publish([jobId, status]);
    const rows = await test.database.rows<{ template: number }>(sql`
      SELECT notification_template_id AS template FROM notifications
      WHERE unified_job_id = ${jobId} ORDER BY id`);
    return rows.map(({ template }) => template);
  };
  const run = async (type: string, fields: Row): Promise<number> => {
    const row = await test.database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, project_id,
        organization_id, started, finished)
      VALUES (${type}, 'run', 'successful', ${fields.template ?? null}, ${fields.project ?? null},
        ${fields.organization ?? null}, now(), now())
      RETURNING id`);
    return row!.id;
  };

  it.each(['template', 'project', 'organization'])(
    'from the %s if attached there',
    async (from) => {
      const attached = await hook();
      const target = { template: jobTemplate, project, organization: test.home.organization };
      if (from === 'organization') await organizationEvent(target[from], attached, 'success');
      else await attach(attached, target[from as 'template' | 'project'], 'success');
      expect(await firedFor(await job('successful'), 'successful')).toEqual([attached.id]);
      expect(await firedFor(await job('failed'), 'failed')).toEqual([]);
    },
  );

  it('from no other template, project or organization', async () => {
    const otherProject = await test.make.project({ organization: test.home.organization.id });
    const otherTemplate = await test.make.jobTemplate({ project: otherProject.id });
    await attach(await hook(), otherProject, 'success');
    await attach(await hook(), otherTemplate, 'success');
    await organizationEvent(test.home.otherOrganization, await hook(), 'success');
    expect(await firedFor(await job('successful'), 'successful')).toEqual([]);
  });

  it('by a project update from its project and organization', async () => {
    const [ofProject, ofOrganization] = [await hook(), await hook()];
    await attach(ofProject, project, 'success');
    await organizationEvent(test.home.organization, ofOrganization, 'success');
    const organization = test.home.organization.id;
    const fields = { template: project.id, project: project.id, organization } as unknown as Row;
    const id = await run('project_update', fields);
    expect((await firedFor(id, 'successful')).sort()).toEqual(
      [ofProject.id, ofOrganization.id].sort(),
    );
  });

  it.each([
    ['started', 'running'],
    ['success', 'successful'],
    ['error', 'failed'],
  ] as const)(
    'by an inventory update from its source and organization, on %s',
    async (event, status) => {
      const [ofSource, ofOrganization] = [await hook(), await hook()];
      const organization = test.home.organization.id;
      const inventory = await test.make.inventory({ organization });
      const source = await test.make.row('inventory_source', {
        ...{ name: 'From the cloud', inventory: inventory.id, source: 'ec2' },
      });
      await attach(ofSource, source, event);
      await organizationEvent(test.home.organization, ofOrganization, event);
      const { body: started } = await test.as.superuser
        .post(`inventory_sources/${source.id}/update/`, {})
        .expect(202);
      await test.database.execute(sql`
        UPDATE unified_jobs SET status = ${status}, started = now(),
          finished = CASE WHEN ${status} <> 'running' THEN now() END
        WHERE id = ${started.id}`);
      expect((await firedFor(started.id, status)).sort()).toEqual(
        [ofSource.id, ofOrganization.id].sort(),
      );
      const [record] = await sentFor(started.id);
      const name = `${String(inventory.name)} - From the cloud`;
      const url = `https://controller.example/api/v2/inventory_updates/${started.id}/`;
      expect(record).toMatchObject({
        subject: expect.stringContaining('Inventory Update'),
        body: { id: started.id, name, status, url, created_by: test.as.users.superuser.username },
      });
    },
  );

  it('by a workflow job from its template and organization, and for its nodes', async () => {
    const workflow = await test.database.row<Row>(sql`
      INSERT INTO unified_job_templates (type, name, organization_id)
      VALUES ('workflow_job_template', 'Release', ${test.home.organization.id}) RETURNING *`);
    const [ofWorkflow, ofOrganization] = [await hook(), await hook()];
    await attach(ofWorkflow, workflow!, 'success');
    await organizationEvent(test.home.organization, ofOrganization, 'success');
    const organization = test.home.organization.id;
    const id = await run('workflow_job', {
      template: workflow!.id,
      organization,
    } as unknown as Row);
    const child = await job('successful');
    const nodes = await test.database.rows<{ id: number }>(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, unified_job_template_id, job_id, identifier)
      VALUES (${id}, ${jobTemplate.id}, ${child}, 'a'), (${id}, ${jobTemplate.id}, NULL, 'b')
      RETURNING id`);
    expect((await firedFor(id, 'successful')).sort()).toEqual(
      [ofWorkflow.id, ofOrganization.id].sort(),
    );
    const [record] = await sentFor(id);
    expect(record!.body.body).toBe(
      [
        'Workflow job summary:',
        '',
        `- node #${nodes[0]!.id} spawns job #${child}, "deploy", which finished with status successful.`,
        `- node #${nodes[1]!.id} spawns no job.`,
      ].join('\n'),
    );
  });
});

it.each([
  ['running', 'started'],
  ['successful', 'success'],
  ['failed', 'error'],
  ['error', 'error'],
  ['canceled', 'error'],
  ['pending', null],
  ['waiting', null],
] as const)('%s sends notifications on %s', async (status, event) => {
  const template = await hook();
  for (const each of ['started', 'success', 'error']) await attach(template, jobTemplate, each);
  const id = await job(status);
  await publish([id, status]);
  expect((await sentFor(id)).map((record) => record.event)).toEqual(event ? [event] : []);
});

it('a message contains the job fields of the contract', async () => {
  await attach(await hook(), jobTemplate, 'error');
  const id = await job('failed');
  await test.database.execute(sql`
    INSERT INTO job_host_summaries (job_id, host_name, ok, changed, dark, failures, skipped, failed)
    VALUES (${id}, 'a', 3, 1, 0, 0, 2, FALSE), (${id}, 'b', 1, 0, 1, 1, 0, TRUE)`);
  await publish([id, 'failed']);
  const [record] = await sentFor(id);
  expect(record?.status).toBe('successful');
  expect(record?.body).toMatchObject({
    id,
    name: 'deploy',
    url: `https://controller.example/api/v2/jobs/${id}/`,
    created_by: 'orgAdmin',
    status: 'failed',
    traceback: '',
    project: project.name,
    playbook: 'site.yml',
    credential: null,
    limit: '',
    extra_vars: '{"a": 1}',
    hosts: { ok: 4, changed: 1, dark: 1, failures: 1, skipped: 2 },
    host_summaries: { a: { ok: 3 }, b: { failed: true } },
  });
  expect(record?.subject).toContain(`Job #${id} 'deploy' failed`);
  expect(JSON.parse(http.last.body)).toEqual(record?.body);
});

it('a start message shows the run at its start, even after its end', async () => {
  const messages = { started: { body: '{"status": "{{ job.status }}"}' } };
  await attach(await hook(messages), jobTemplate, 'started');
  const id = await job('successful');
  await publish([id, 'running']);
  const [record] = await sentFor(id);
  expect(record?.body).toEqual({ status: 'running' });
});

it('the default text is sent with a note if a message cannot be rendered', async () => {
  const template = await hook();
  await test.database.execute(sql`
    UPDATE notification_templates SET messages = '{"success": {"body": "{{ job.name | nothing }}"}}'
    WHERE id = ${template.id}`);
  await attach(template, jobTemplate, 'success');
  const id = await job('successful');
  await publish([id, 'successful']);
  const [record] = await sentFor(id);
  expect(record).toMatchObject({ status: 'successful', body: { id, note: expect.any(String) } });
});

it('the notification fails with an explanation if its run was deleted', async () => {
  const template = await hook();
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO notifications (notification_template_id, notification_type, event, message_id)
    VALUES (${template.id}, 'webhook', 'success', 'x') RETURNING id`);
  await worker.get(Notifier).handle(row!.id);
  const { body } = await test.as.superuser.get(`notifications/${row!.id}/`).expect(200);
  expect(body).toMatchObject({
    status: 'failed',
    error: 'The run was deleted before its message could be rendered.',
  });
});

it('the parent of a bulk launch sends no notifications', async () => {
  await test.database.execute(sql`
    INSERT INTO organization_notifications (organization_id, notification_template_id, event)
    VALUES (${test.home.organization.id}, ${(await hook()).id}, 'success')`);
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, organization_id)
    VALUES ('workflow_job', 'bulk', 'successful', ${test.home.organization.id}) RETURNING id`);
  await publish([row!.id, 'successful']);
  expect(await recordsOf(row!.id)).toEqual([]);
});

it('a run whose template is deleted at the same time is not changed', async () => {
  const template = await hook();
  await attach(template, jobTemplate, 'success');
  const id = await job('successful');
  let deleted: () => void = () => undefined;
  const committed = new Promise<void>((resolve) => (deleted = resolve));
  const deleting = test.database.transaction(async () => {
    await test.database.execute(sql`DELETE FROM notification_templates WHERE id = ${template.id}`);
    await committed;
  });
  await eventually(async () => {
    const locked = await test.database.rows(sql`
      SELECT id FROM notification_templates WHERE id = ${template.id} FOR UPDATE SKIP LOCKED`);
    expect(locked).toEqual([]);
  });
  // It waits for the lock, finds the template gone, and must not fail the run for it.
  const publishing = publish([id, 'successful']);
  deleted();
  await deleting;
  await publishing;
  expect(await recordsOf(id)).toEqual([]);
});

it('many runs need as many statements as one', async () => {
  await attach(await hook(), jobTemplate, 'success');
  const ids: number[] = [];
  for (let i = 0; i < 20; i++) ids.push(await job('successful'));
  const one = await countQueries(test.database, () => publish([ids[0]!, 'successful']));
  const many = await countQueries(test.database, () =>
    publish(...ids.slice(1).map((id) => [id, 'successful'] as [number, JobStatus])),
  );
  expect(many).toBe(one);
  for (const id of ids) await sentFor(id);
});
