/** After a change of SECRET_KEY every stored secret is encrypted with the new key and decrypts as before. */
import { doctor } from '../../src/cli/doctor.js';
import { rotateSecretKey } from '../../src/cli/rotate-secret-key.js';
import { rowContext, SecretBox } from '../../src/common/crypto/secret-box.js';
import { SigningKeys } from '../../src/run-identity/signing-keys.service.js';
import { sealArtifacts } from '../../src/runs/workflow-artifacts.js';
import { Database } from '../../src/database/database.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

const NEW_KEY = 'another key for tests, of no value anywhere else';
/** User text in the format of an encrypted value, which is not one. */
const LOOKALIKE = '$sealed$v1$deadbeef$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

let test: TestApp;
const box = new SecretBox(NEW_KEY);

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Creates a row of every kind that stores secrets, through the API. */
async function furnish() {
  const { make, as, home } = test;
  const organization = home.organization.id;
  const credential = await make.credential({
    organization,
    inputs: { username: 'visible', password: 'of the machine' },
  });
  const notification = await as.superuser
    .post('notification_templates/', {
      name: 'kept',
      organization,
      notification_type: 'webhook',
      notification_configuration: {
        url: 'http://127.0.0.1:9/hook',
        http_method: 'POST',
        headers: {},
        disable_ssl_verification: false,
        username: LOOKALIKE,
        password: 'of the receiver',
      },
    })
    .expect(201);
  const issuer = 'https://login.example.com';
  await make.row('authenticator', {
    name: 'Login',
    configuration: { issuer, client_id: LOOKALIKE, client_secret: 'of the login' },
  });
  const project = await make.project({ organization });
  const template = await make.jobTemplate({
    project: project.id,
    ask_variables_on_launch: true,
    ask_credential_on_launch: true,
    survey_enabled: true,
  });
  const question = { question_name: 'Word', variable: 'word', type: 'password', required: false };
  await as.superuser
    .post(`job_templates/${template.id}/survey_spec/`, {
      name: 'survey',
      description: '',
      spec: [{ ...question, default: 'of the survey' }],
    })
    .expect(200);
  await as.superuser
    .patch(`job_templates/${template.id}/`, { webhook_service: 'service_a' })
    .expect(200);
  const workflow = await make.workflowTemplate({ organization });
  const saved = { extra_data: { word: 'of the node', plain: LOOKALIKE } };
  const node = await as.superuser
    .post(`workflow_job_templates/${workflow.id}/workflow_nodes/`, {
      unified_job_template: template.id,
      ...saved,
    })
    .expect(201);
  const schedule = await as.superuser
    .post(`job_templates/${template.id}/schedules/`, {
      name: 'nightly',
      rrule: 'DTSTART:20400101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
      ...{ extra_data: { word: 'of the schedule', plain: LOOKALIKE } },
    })
    .expect(201);
  const extra_vars = { word: 'of the launch', plain: LOOKALIKE };
  const job = await as.superuser
    .post(`job_templates/${template.id}/launch/`, { extra_vars })
    .expect(201);
  const bulk = await as.superuser
    .post('bulk/job_launch/', {
      name: 'Many',
      jobs: [{ unified_job_template: template.id, identifier: 'one', extra_vars }],
    })
    .expect(201);
  await test.app.get(SigningKeys, { strict: false }).published();
  // Rows that only workers write.
  const old = test.app.get(SecretBox, { strict: false });
  const handed = { token: 'of the statistics' };
  const jobId = Number(job.body.job);
  const { body: nodes } = await as.superuser.get(bulk.body.workflow_nodes).expect(200);
  const jobNode = Number(nodes.results[0].id);
  await test.database.execute(sql`
    UPDATE unified_jobs SET secret_artifacts = ${sealArtifacts(old, 'unified_jobs', jobId, handed)}
    WHERE id = ${jobId}`);
  await test.database.execute(sql`
    UPDATE workflow_job_nodes
    SET secret_artifacts = ${sealArtifacts(old, 'workflow_job_nodes', jobNode, handed)}
    WHERE id = ${jobNode}`);
  return {
    jobNode,
    credential: credential.id,
    notification: Number(notification.body.id),
    template: template.id,
    workflow: workflow.id,
    node: Number(node.body.id),
    schedule: Number(schedule.body.id),
    job: Number(job.body.job),
    bulk: Number(bulk.body.id),
  };
}

/** Returns every encrypted text of the database, in any column. */
async function sealedTexts(): Promise<string[]> {
  const columns = await test.database.rows<{ table_name: string; column_name: string }>(sql`
    SELECT c.table_name, c.column_name FROM information_schema.columns c
    JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
      AND c.data_type IN ('text', 'character varying', 'json', 'jsonb')`);
  const found: string[] = [];
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await test.database.rows<{ value: string }>(sql`
      SELECT ${ident(column)}::text AS value FROM ${ident(table)}
      WHERE ${ident(column)}::text LIKE '%$sealed$%'`);
    found.push(
      ...rows.flatMap(({ value }) => value.match(/\$sealed\$v1\$[0-9a-f]{8}\$[\w-]+/g) ?? []),
    );
  }
  return found.filter((text) => text !== LOOKALIKE);
}

/** Creates every secret and rotates the key twice, as after an interruption. */
async function rotate() {
  const made = await furnish();
  const before = await sealedTexts();
  const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const keys = {
    SECRET_KEY: NEW_KEY,
    SECRET_KEY_OLD: 'a key for tests, of no value anywhere else',
  };
  try {
    expect(await withSettingsOf(test, keys, rotateSecretKey)).toBe(0);
    expect(await withSettingsOf(test, keys, rotateSecretKey)).toBe(0);
  } finally {
    out.mockRestore();
  }
  return { made, before };
}
let rotation: ReturnType<typeof rotate> | undefined;
const rotated = (): ReturnType<typeof rotate> => (rotation ??= rotate());

/** Creates as many runs with a text like a secret as the rotation changes at a time, and one more. */
async function addRuns(): Promise<{ first: number; last: number }> {
  const row = await test.database.row<{ first: number; last: number }>(sql`
    WITH added AS (
      INSERT INTO unified_jobs (id, type, status, finished, start_args)
      SELECT 900000 + number, 'job', 'successful', now(), ${LOOKALIKE}
      FROM generate_series(0, 500) number RETURNING id)
    SELECT min(id)::int AS first, max(id)::int AS last FROM added`);
  return row!;
}

it('the rotation encrypts every secret again and does not change similar texts', async () => {
  const { made, before } = await rotated();
  const after = await sealedTexts();
  expect(after).toHaveLength(before.length);
  expect(after.filter((text) => box.needsReseal(text))).toEqual([]);

  /** Decrypts the value at the path inside a column. The last name of the path is the name of the secret. */
  const open = async (table: string, id: number, path: string[]) => {
    const [column, ...inside] = path as [string, ...string[]];
    const row = await test.database.row<{ value: string }>(sql`
      SELECT CASE WHEN ${inside.length} = 0 THEN ${ident(column)}::text
        ELSE to_json(${ident(column)}) #>> ${inside}::text[] END AS value
      FROM ${ident(table)} WHERE id = ${id}`);
    return box.open(row!.value, rowContext(table, id, path.at(-1)!));
  };
  const key = await test.database.row<{ id: string; private_key: string }>(sql`
    SELECT id, private_key FROM signing_keys`);
  const context = rowContext('signing_keys', key!.id, 'private_key');
  expect(box.open(key!.private_key, context)).toContain('BEGIN PRIVATE KEY');
  const jobs = 'unified_jobs';
  const templates = 'unified_job_templates';
  const answers = 'survey_passwords';
  const notifications = 'notification_templates';
  expect(await open('workflow_job_template_nodes', made.node, [answers, 'word'])).toBe(
    '"of the node"',
  );
  expect(await open('schedules', made.schedule, [answers, 'word'])).toBe('"of the schedule"');
  expect(await open('credentials', made.credential, ['inputs', 'password'])).toBe('of the machine');
  const configuration = ['notification_configuration', 'password'];
  expect(await open(notifications, made.notification, configuration)).toBe('of the receiver');
  const preset = ['survey_spec', 'spec', '0', 'default'];
  expect(await open(templates, made.template, preset)).toBe('of the survey');
  expect(await open(templates, made.template, ['webhook_key'])).toMatch(/^\w{50}$/);
  expect(await open(jobs, made.job, ['launch_config', answers, 'word'])).toBe('"of the launch"');
  const statistics = '{"token":"of the statistics"}';
  expect(await open(jobs, made.job, ['secret_artifacts'])).toBe(statistics);
  expect(await open('workflow_job_nodes', made.jobNode, ['secret_artifacts'])).toBe(statistics);
  expect(await open(jobs, made.bulk, ['launch_config', answers, 'one/word'])).toBe(
    '"of the launch"',
  );
});

it('the rotation locks few rows at a time, so that workers keep their runs', async () => {
  await rotated();
  const { first, last } = await addRuns();
  const holder = new Database(test.database.dataSource);
  const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const keys = { SECRET_KEY: NEW_KEY, SECRET_KEY_OLD: 'a former key of these tests, of no value' };
  const [rotating] = await holder.transaction(async () => {
    await holder.execute(sql`SELECT 1 FROM unified_jobs WHERE id = ${last} FOR UPDATE`);
    const running = withSettingsOf(test, keys, rotateSecretKey);
    const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => expect(await test.database.execute(waiting)).toBe(1));
    const free = sql`SELECT 1 FROM unified_jobs WHERE id = ${first} FOR UPDATE SKIP LOCKED`;
    expect(await test.database.execute(free)).toBe(1);
    return [running];
  });
  expect(await rotating).toBe(0);
  out.mockRestore();
});

it('the doctor reports secrets that need another key, or still the previous one', async () => {
  const examined = async (key: string, previous = ''): Promise<string | undefined> => {
    const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const keys = { SECRET_KEY: key, SECRET_KEY_OLD: previous };
    await withSettingsOf(test, keys, doctor);
    const printed = out.mock.calls.map(([text]) => String(text));
    out.mockRestore();
    return printed.find((line) => line.includes('SECRET_KEY'));
  };
  await rotated();
  expect(await examined(NEW_KEY)).toBe('ok      SECRET_KEY: decrypts the stored secrets\n');
  expect(await examined('some other key, which is also long enough')).toBe(
    'FAILED  SECRET_KEY: the secrets of this database need another key\n',
  );
  expect(await examined('the key after the next rotation, for tests', NEW_KEY)).toBe(
    'WARN    SECRET_KEY: some secrets still need SECRET_KEY_OLD: run rotate-secret-key\n',
  );
});
