/**
 * Objects around the templates of the furnished installation: schedules, webhooks, inventory sources,
 * notifications, and a failed run.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from '../support/boot.js';
import { webhookSample } from '../support/payloads/webhooks.js';
import { addHook } from '../support/webhooks.js';
import { storeEvents, storeSummaries, type FurnishedTask } from './furnish-runs.js';

/** Adds a survey, which is asked at each launch of the template. */
export async function askSurvey({ as }: TestApp, { id }: Row): Promise<void> {
  const path = `job_templates/${id}/`;
  const question = (variable: string, question_name: string, more: object): object => ({
    variable,
    question_name,
    question_description: '',
    required: true,
    type: 'text',
    default: '',
    ...more,
  });
  await as.superuser
    .post(`${path}survey_spec/`)
    .send({
      name: '',
      description: '',
      spec: [
        question('release', 'Which release?', { default: '2026.11.2' }),
        question('region', 'Which region?', {
          type: 'multiplechoice',
          choices: ['north', 'south', 'all'],
          default: 'north',
        }),
        question('batch', 'How many hosts at once?', {
          question_description: 'The others go on serving customers meanwhile.',
          type: 'integer',
          min: 1,
          max: 12,
          default: 4,
        }),
      ],
    })
    .expect(200);
  await as.superuser.patch(path, { survey_enabled: true }).expect(200);
}

/** Delivers pushes and pull requests: one that a filter skips and one with a wrong signature among them. */
export async function deliver(test: TestApp, template: Row): Promise<void> {
  const hook = await addHook(test, template, 'service_a');
  const push = webhookSample('service_a', 'push');
  const byBot = { ...push.payload, sender: { login: 'release-bot' } };
  await hook.send(push).expect(202);
  await hook.send(webhookSample('service_a', 'pull_request'));
  const elsewhere = { ...push, payload: { ...byBot, ref: 'refs/heads/try-something' } };
  await test.as.superuser
    .patch(`job_templates/${template.id}/`, { webhook_filters: { refs: ['refs/heads/main'] } })
    .expect(200);
  await hook.send(elsewhere);
  await hook.post(Buffer.from('{}'), {
    'Content-Type': 'application/json',
    'X-Service-A-Event': 'push',
    'X-Service-A-Delivery': 'b7c1c2e0-9a4e-4c57-a3a2-5d8f1c0e7d11',
    'X-Service-A-Signature-256': `sha256=${'0'.repeat(64)}`,
  });
}

/** Creates a nightly schedule, and one before the opening hours of Mondays. */
export async function schedule({ as }: TestApp, { id }: Row): Promise<Row> {
  const path = `job_templates/${id}/schedules/`;
  const { body } = await as.superuser
    .post(path, {
      name: 'Every night',
      rrule: 'DTSTART;TZID=Europe/Berlin:20260101T023000 RRULE:FREQ=DAILY;INTERVAL=1',
    })
    .expect(201);
  await as.superuser
    .post(path, {
      name: 'Before the week',
      rrule: 'DTSTART;TZID=Europe/Berlin:20260105T060000 RRULE:FREQ=WEEKLY;BYDAY=MO;INTERVAL=1',
    })
    .expect(201);
  return body;
}

/** Creates an inventory source with a successful update and a failed one. */
export async function source(test: TestApp, inventory: Row): Promise<Row> {
  const { make, database } = test;
  const made: Row[] = [];
  for (const [name, kind, status] of [
    ['Machines in the cloud', 'ec2', 'successful'],
    ['Machines of the second account', 'ec2', 'failed'],
  ] as const) {
    const one = await make.row('inventory_source', {
      name,
      inventory: inventory.id,
      source: kind,
      update_on_launch: true,
      update_cache_timeout: 900,
    });
    made.push(one);
    const update = await database.row<Row>(sql`
      INSERT INTO unified_jobs (type, name, status, failed, source, organization_id, started, finished,
        unified_job_template_id, inventory_source_id, inventory_id, event_processing_finished, elapsed)
      SELECT 'inventory_update', ${name}, ${status}, ${status === 'failed'}, ${kind}, organization_id,
        now() - interval '63 minutes', now() - interval '62 minutes', ${one.id}, ${one.id}, id, true, 41
      FROM inventories WHERE id = ${inventory.id} RETURNING id`);
    await database.execute(sql`
      UPDATE unified_job_templates SET last_job_id = ${update?.id}, status = ${status},
        last_job_run = now() - interval '62 minutes', last_job_failed = ${status === 'failed'}
      WHERE id = ${one.id}`);
  }
  const [first] = made as [Row, ...Row[]];
  return first;
}

/** Creates a chat that receives failures, and its past notifications. */
export async function makeNotificationTemplate(
  test: TestApp,
  templates: readonly Row[],
  organization: number,
): Promise<Row> {
  const { make, database, as } = test;
  const chat = await make.notificationTemplate({
    name: 'Operations chat',
    description: 'Whoever is on call reads it',
    organization,
    notification_type: 'chat_b',
    notification_configuration: { url: 'https://chat.example/hooks/operations' },
  });
  for (const { id } of templates) {
    const path = `job_templates/${id}/notification_templates_error/`;
    await as.superuser.post(path, { id: chat.id }).expect(204);
  }
  const notifications: [event: string, subject: string, answers: (number | null)[], ago: string][] =
    [
      ['test', 'A test from the controller', [200], '3 days'],
      ['error', 'Job "Patch servers" failed', [503, 503, 200], '26 hours'],
      ['error', 'Job "Back up the data" failed', [null, 410], '55 minutes'],
    ];
  for (const [event, subject, answers, ago] of notifications) {
    const isSent = answers.at(-1) === 200;
    const error = isSent ? '' : 'The server answered 410: this room is archived.';
    const record = await database.row<Row>(sql`
      INSERT INTO notifications (notification_template_id, notification_type, status, event, error,
        subject, recipients, notifications_sent, attempts, created)
      VALUES (${chat.id}, 'chat_b', ${isSent ? 'successful' : 'failed'}, ${event}, ${error},
        ${subject}, 'https://chat.example/hooks/operations', ${isSent ? 1 : 0}, ${answers.length},
        now() - ${ago}::interval) RETURNING id`);
    for (const [index, code] of answers.entries()) {
      const detail =
        code === 200 ? 'ok' : code === 410 ? 'this room is archived' : 'try again later';
      await database.execute(sql`
        INSERT INTO notification_attempts (notification_id, number, successful, status_code, detail,
          duration_ms, created)
        VALUES (${record?.id}, ${index + 1}, ${code === 200}, ${code},
          ${code === null ? 'No answer within 10 s' : detail}, ${code === null ? 10_000 : 84 + index * 31},
          now() - ${ago}::interval + make_interval(secs => ${index * 5}))`);
    }
  }
  return chat;
}

/**
 * Creates the objects of administrators: logins, instances and execution environments.
 *
 * @returns id of the credential type "Machine"
 */
export async function administer({ make, database }: TestApp): Promise<number> {
  await make.row('authenticator', {
    name: 'Company login',
    kind: 'oidc',
    enabled: true,
    configuration: {
      issuer: 'https://login.shop.example',
      client_id: 'controller',
      client_secret: 'x',
    },
  });
  await make.row('execution_environment', {
    name: 'Shop collections',
    description: 'Collections for the machines of the shop',
    image: 'registry.shop.example/automation/shop:2026.11',
  });
  await database.execute(sql`
    INSERT INTO instances (hostname, version, cpu, memory, cpu_capacity, mem_capacity, isolation,
      isolation_detail, ansible_version, last_seen)
    VALUES ('worker-1', '0.1.0', 8, 33554432000, 32, 316, 'bubblewrap', 'bubblewrap 0.11.0', '2.21.5',
        now()),
      ('worker-2', '0.1.0', 8, 33554432000, 32, 316, 'bubblewrap', 'bubblewrap 0.11.0', '2.21.5',
        now() - interval '3 hours')`);
  const type = await database.row<Row>(
    sql`SELECT id FROM credential_types WHERE namespace = 'ssh'`,
  );
  return type!.id;
}

/** Tasks of the failed run, until a service does not start. */
const TASKS: readonly FurnishedTask[] = [
  {
    task: 'Gathering Facts',
    hosts: [
      ['web-north-1', 'ok'],
      ['web-north-2', 'ok'],
    ],
  },
  {
    task: 'Install the release',
    hosts: [
      ['web-north-1', 'changed'],
      ['web-north-2', 'changed'],
    ],
  },
  {
    task: 'Start the service',
    hosts: [
      ['web-north-1', 'changed'],
      ['web-north-2', 'failed'],
    ],
    message:
      'Unable to start service shop: Job for shop.service failed because the control process exited with error code.',
  },
];

/** Creates a failed run, after a successful one with another release. */
export async function failedJob(test: TestApp, template: Row): Promise<Row> {
  const run = async (status: string, release: string, ago: string): Promise<Row> =>
    (await test.database.row<Row>(sql`
      INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
        organization_id, project_id, inventory_id, playbook, scm_revision, extra_vars, launch_type,
        started, finished, elapsed, event_processing_finished)
      SELECT 'job', name, ${status}, ${status === 'failed'}, id, id, organization_id, project_id,
        inventory_id, 'site.yml', ${release.padEnd(40, '4f1c')},
        ${JSON.stringify({ region: 'north', release })}, 'webhook',
        now() - ${ago}::interval, now() - ${ago}::interval + interval '74 seconds', 74, true
      FROM unified_job_templates WHERE id = ${template.id} RETURNING *`))!;
  await run('successful', '2026.11.1', '26 hours');
  const job = await run('failed', '2026.11.2', '41 minutes');
  await storeEvents(test, job, TASKS, true);
  await storeSummaries(test, job, [
    ['web-north-1', 3, 2, 0, 0, 0],
    ['web-north-2', 2, 1, 1, 0, 0],
  ]);
  return job;
}
