import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { sql } from '../../src/database/sql.js';
import { RunsRepository } from '../../src/runs/runs.repository.js';
import { DueSchedules } from '../../src/schedules/due-schedules.service.js';
import { NextLaunches } from '../../src/schedules/next-launches.service.js';
import { ruleInstant } from '../../src/schedules/rule-text.js';
import { SchedulesRepository } from '../../src/schedules/schedules.repository.js';
import { RuntimeSettings } from '../../src/settings/runtime-settings.service.js';
import { Launchers } from '../../src/launching/launchers.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { interleave } from '../support/interleave.js';
import { recordedKinds } from '../support/launch-entries.js';
import { LOST_SURVEY } from '../support/lost-key.js';
import { countQueries } from '../support/queries.js';

const HOURLY = 'DTSTART:20200101T000000Z RRULE:FREQ=HOURLY;INTERVAL=1';

let test: TestApp;
let due: DueSchedules;
let template: Row;

beforeAll(async () => {
  test = await boot();
  const { app, make, home } = test;
  const find = <T>(token: abstract new (...args: never[]) => T): T =>
    app.get<T>(token as never, { strict: false });
  due = new DueSchedules(
    find(RunsRepository),
    find(SchedulesRepository),
    find(SecretBox),
    find(RuntimeSettings),
    find(Launchers),
    find(NextLaunches),
  );
  template = await make.jobTemplate({
    organization: home.organization.id,
    ask_limit_on_launch: true,
    ask_credential_on_launch: true,
    ask_labels_on_launch: true,
    ask_instance_groups_on_launch: true,
  });
});
afterAll(() => test.close());
beforeEach(async () => {
  await test.database.execute(sql`DELETE FROM schedules`);
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = 'canceled' WHERE status IN ('pending', 'running')`);
});

let counter = 0;
const schedule = async (fields: object = {}, of: Row = template): Promise<Row> =>
  test.make.row('schedule', {
    name: `Schedule ${(counter += 1)}`,
    rrule: HOURLY,
    unified_job_template: of.id,
    ...fields,
  });
/** Lets the next occurrence of schedules be some hours ago. */
const miss = (hours: number, ...rows: readonly Row[]) =>
  test.database.execute(sql`
    UPDATE schedules SET next_run = date_trunc('hour', now()) - make_interval(hours => ${hours})
    WHERE id = ANY(${rows.map(({ id }) => id)}::int[])`);
const launch = () => test.database.transaction(() => due.launchDue());
const stored = async ({ id }: Row): Promise<Row> =>
  (await test.database.row<Row>(sql`SELECT * FROM schedules WHERE id = ${id}`))!;
const runsOf = ({ id }: Row): Promise<Row[]> =>
  test.database.rows<Row>(sql`SELECT * FROM unified_jobs WHERE schedule_id = ${id} ORDER BY id`);
const idsOf = (rows: readonly Row[]): number[] => rows.map(({ id }) => id);
/** The last full hour and the next one. */
const hours = async (): Promise<{ last: string; next: string }> => {
  const row = await test.database.row<{ last: string; next: string }>(sql`
    SELECT date_trunc('hour', now()) AS last,
      date_trunc('hour', now()) + interval '1 hour' AS next`);
  return row!;
};

it('a due schedule launches once, and moves to the next occurrence', async () => {
  const one = await schedule({ limit: 'web' });
  const later = await schedule();
  await miss(0, one);
  expect(await launch()).toBe(false);
  const { last, next } = await hours();
  const [run, ...others] = await runsOf(one);
  expect(others).toEqual([]);
  expect(run).toMatchObject({
    type: 'job',
    status: 'pending',
    launch_type: 'scheduled',
    created_by_id: null,
    limit: 'web',
    schedule_occurrence: last,
  });
  expect(await stored(one)).toMatchObject({
    next_run: next,
    last_run: last,
    last_run_explanation: '',
  });
  await launch();
  expect(await runsOf(one)).toHaveLength(1);
  expect(await runsOf(later)).toEqual([]);
  const shown = await test.as.superuser.get(`jobs/${run!.id}/`).expect(200);
  const url = `/api/v2/schedules/${one.id}/`;
  expect(shown.body).toMatchObject({
    launched_by: { id: one.id, name: one.name, type: 'schedule', url },
    related: { schedule: url },
    summary_fields: { schedule: { id: one.id, name: one.name, next_run: next } },
  });
  const listed = await test.as.superuser.get(`schedules/${one.id}/jobs/`).expect(200);
  expect(listed.body.results).toMatchObject([{ id: run!.id, type: 'job' }]);
  const templates = await test.as.superuser.get(`job_templates/${template.id}/`).expect(200);
  expect(templates.body.next_job_run).toBe(next);
});

it('a due schedule launches even if another rule is invalid', async () => {
  const [one, lost] = [await schedule(), await schedule()];
  await miss(0, one, lost);
  await test.database.execute(sql`
    UPDATE schedules SET rrule = ${HOURLY.replace(/:(\w+)Z/, ';TZID=Sunken/Atlantis:$1')}
    WHERE id = ${lost.id}`);
  await launch();
  expect(await runsOf(one)).toHaveLength(1);
  expect(await runsOf(lost)).toEqual([]);
  expect(await stored(lost)).toMatchObject({
    next_run: null,
    last_run_explanation: 'The rule of this schedule cannot be evaluated. Set a new rule.',
  });
  const { body } = await test.as.superuser.get('schedules/?order_by=id').expect(200);
  expect(body.results).toMatchObject([
    { id: one.id, timezone: 'UTC' },
    { id: lost.id, timezone: '', until: '' },
  ]);
});

it('a late schedule launches the latest of its missed occurrences', async () => {
  const one = await schedule();
  await miss(50, one);
  await launch();
  await launch();
  const { last, next } = await hours();
  expect(await runsOf(one)).toMatchObject([{ schedule_occurrence: last }]);
  expect(await stored(one)).toMatchObject({ next_run: next });
});

it('a schedule ends after its last occurrence', async () => {
  const one = await schedule({ rrule: `${HOURLY};COUNT=3` });
  await test.database.execute(sql`
    UPDATE schedules SET next_run = '2020-01-01T01:00:00Z' WHERE id = ${one.id}`);
  await launch();
  expect(await runsOf(one)).toMatchObject([{ schedule_occurrence: '2020-01-01T02:00:00Z' }]);
  expect(await stored(one)).toMatchObject({ next_run: null });
});

it('a disabled schedule launches nothing', async () => {
  const one = await schedule({ enabled: false });
  await miss(0, one);
  await launch();
  expect(await runsOf(one)).toEqual([]);
});

it('a pass with rules that take long launches what it has computed, and requests the next pass', async () => {
  const rows = [await schedule(), await schedule()];
  await miss(0, ...rows);
  let now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 10_000));
  expect(await launch()).toBe(true);
  clock.mockRestore();
  expect(await runsOf(rows[1]!)).toEqual([]);
  expect(await launch()).toBe(false);
  for (const row of rows) expect(await runsOf(row)).toHaveLength(1);
});

it('a schedule whose project is locked by a long deletion does not delay others', async () => {
  const { database, make } = test;
  const project = await make.project();
  const waiting = await schedule({}, await make.jobTemplate({ project: project.id }));
  const other = await schedule();
  await miss(0, waiting, other);
  await interleave(database, [
    () =>
      database.rows(sql`
      SELECT 1 FROM unified_job_templates WHERE id = ${project.id} FOR UPDATE`),
    launch,
    async () => expect(await runsOf(other)).toHaveLength(1),
  ]);
  expect(await runsOf(waiting)).toEqual([]);
  await launch();
  expect(await runsOf(waiting)).toHaveLength(1);
});

it('two simultaneous workers launch an occurrence once', async () => {
  const rows = await Promise.all(Array.from({ length: 8 }, () => schedule()));
  await miss(1, ...rows);
  await Promise.all([launch(), launch(), launch(), launch()]);
  for (const row of rows) expect(await runsOf(row)).toHaveLength(1);
});

it('a rolled-back launch leaves no run, and is repeated', async () => {
  const one = await schedule();
  await miss(0, one);
  const lost = test.database.transaction(async () => {
    await due.launchDue();
    throw new Error('power cut');
  });
  await expect(lost).rejects.toThrow('power cut');
  expect(await runsOf(one)).toEqual([]);
  await launch();
  expect(await runsOf(one)).toHaveLength(1);
});

it('an occurrence cannot be launched twice', async () => {
  const one = await schedule();
  await miss(0, one);
  await launch();
  await miss(0, one);
  await expect(launch()).rejects.toMatchObject({ code: '23505' });
  expect(await runsOf(one)).toHaveLength(1);
});

it('a schedule that is changed during a launch is not due again for the launched occurrence', async () => {
  const { database } = test;
  const one = await schedule();
  // Begins before the occurrence, and continues after its launch.
  await database.transaction(async () => {
    const [begun] = await database.rows<{ at: string }>(sql`
      SELECT date_trunc('second', now()) + interval '1 s' AS at`);
    await eventually(async () => {
      const [clock] = await database.rows<{ passed: boolean }>(sql`
        SELECT clock_timestamp() > ${begun!.at}::timestamptz AS passed`);
      expect(clock!.passed).toBe(true);
    });
    const rrule = `DTSTART:${ruleInstant(new Date(begun!.at))} RRULE:FREQ=DAILY;INTERVAL=1`;
    const { id } = test.as.users.superuser;
    const actor = { id, username: '', isSuperuser: true, isSystemAuditor: false };
    const resources = test.app.get(ResourceService, { strict: false });
    const mode = { partial: true };
    const changed = await resources.update(resource('schedule'), one, { rrule }, actor, mode);
    expect(Date.parse(String(changed.next_run))).toBe(Date.parse(begun!.at) + 86_400_000);
  });
});

it('a template with too many active jobs is skipped, with an explanation', async () => {
  await test.as.superuser.patch('settings/jobs/', { SCHEDULE_MAX_JOBS: 2 }).expect(200);
  const busy = await test.make.jobTemplate();
  const make = () => schedule({}, busy);
  const [first, second, third] = [await make(), await make(), await make()];
  const other = await schedule();
  await miss(0, first, second, third, other);
  await launch();
  expect(await runsOf(first)).toHaveLength(1);
  expect(await runsOf(second)).toHaveLength(1);
  expect(await runsOf(third)).toEqual([]);
  expect(await runsOf(other)).toHaveLength(1);
  const { last, next } = await hours();
  expect(await stored(third)).toMatchObject({
    next_run: next,
    last_run: last,
    last_run_explanation:
      'Skipped because the template has 2 active jobs already (SCHEDULE_MAX_JOBS is 2).',
  });
  await test.as.superuser.delete('settings/jobs/').expect(204);
});

it('a failed launch is explained, and other schedules launch', async () => {
  const asking = await test.make.jobTemplate({ ask_inventory_on_launch: true });
  const gone = await test.make.inventory();
  const [broken, fine] = [await schedule({ inventory: gone.id }, asking), await schedule()];
  await test.database.execute(sql`DELETE FROM inventories WHERE id = ${gone.id}`);
  await miss(0, broken, fine);
  await launch();
  expect(await runsOf(broken)).toEqual([]);
  // It does not run on the inventory of the template (docs/decisions/0047).
  expect((await stored(broken)).last_run_explanation).toBe(
    `Invalid pk "${gone.id}" - object does not exist.`,
  );
  expect(await runsOf(fine)).toHaveLength(1);
});

it('a launch with secrets of a lost key is explained, and other schedules launch', async () => {
  const lost = await test.make.jobTemplate({ survey_enabled: true });
  const [broken, fine, other] = [await schedule({}, lost), await schedule(), await schedule()];
  await test.database.execute(sql`
    UPDATE unified_job_templates SET survey_spec = ${LOST_SURVEY} WHERE id = ${lost.id}`);
  await miss(0, fine, broken, other);
  await launch();
  expect(await runsOf(broken)).toEqual([]);
  expect((await stored(broken)).last_run_explanation).toBe(
    'A stored secret cannot be decrypted (unknown_key).',
  );
  for (const one of [fine, other]) expect(await runsOf(one)).toHaveLength(1);
});

it('credentials are added to those of the template, as are labels and instance groups', async () => {
  const { make, home, as, database } = test;
  const organization = home.organization.id;
  const inputs = { vault_password: 'x' };
  const [own, mine, vault] = [
    await make.credential({ organization }),
    await make.credential({ organization }),
    await make.credential({ organization, credential_type: await vaultType(), inputs }),
  ];
  await as.superuser.post(`job_templates/${template.id}/credentials/`, { id: own.id }).expect(204);
  const one = await schedule();
  for (const { id } of [mine, vault]) {
    await as.superuser.post(`schedules/${one.id}/credentials/`, { id }).expect(204);
  }
  const label = await make.row('label', { name: 'nightly', organization });
  await as.superuser.post(`schedules/${one.id}/labels/`, { id: label.id }).expect(204);
  const group = (await database.row<Row>(sql`SELECT id FROM instance_groups LIMIT 1`))!;
  await as.superuser.post(`schedules/${one.id}/instance_groups/`, { id: group.id }).expect(204);
  await miss(0, one);
  await launch();
  const [run] = await runsOf(one);
  expect(run!.launch_config).toMatchObject({ instance_groups: [group.id] });
  const credentials = await database.rows<{ id: number }>(sql`
    SELECT credential_id AS id FROM job_credentials WHERE job_id = ${run!.id} ORDER BY 1`);
  expect(credentials.map(({ id }) => id)).toEqual([mine.id, vault.id]);
  const labels = await database.rows(sql`
    SELECT label_id FROM job_labels WHERE job_id = ${run!.id}`);
  expect(labels).toEqual([{ label_id: label.id }]);
});

const vaultType = async (): Promise<number> =>
  (await test.database.row<Row>(sql`SELECT id FROM credential_types WHERE kind = 'vault'`))!.id;

it('secret answers are passed to the job in encrypted form', async () => {
  const asked = await test.make.jobTemplate({ survey_enabled: true });
  const question = { question_name: 'T', variable: 'token', type: 'password', default: '' };
  const survey = { name: '', description: '', spec: [question] };
  await test.as.superuser.post(`job_templates/${asked.id}/survey_spec/`, survey).expect(200);
  const both = [1, 2].map(() => schedule({ extra_data: { token: 'canary-word' } }, asked));
  const [one, other] = (await Promise.all(both)) as [Row, Row];
  await miss(0, one);
  await launch();
  const withoutSurvey = { survey_enabled: false, ask_variables_on_launch: true };
  await test.as.superuser.patch(`job_templates/${asked.id}/`, withoutSurvey).expect(200);
  await miss(0, other);
  await launch();
  const runs = [await runsOf(one), await runsOf(other)].flat();
  expect(runs).toHaveLength(2);
  expect(JSON.stringify(runs)).not.toContain('canary-word');
  for (const run of runs) {
    expect(run.extra_vars).toBe('{"token": "$encrypted$"}');
    expect(JSON.stringify(run.launch_config)).toContain('$sealed$');
  }
  survey.spec = [{ ...question, type: 'integer' }];
  await test.as.superuser.post(`job_templates/${asked.id}/survey_spec/`, survey).expect(200);
  await test.as.superuser.patch(`job_templates/${asked.id}/`, { survey_enabled: true }).expect(200);
  await miss(0, one);
  await launch();
  const { body } = await test.as.superuser.get(`schedules/${one.id}/`).expect(200);
  expect(body.last_run_explanation).toContain("Value $encrypted$ for 'token' expected");
});

it('schedules update projects and inventories, and launch workflows', async () => {
  const { make, home, database } = test;
  const organization = home.organization.id;
  const git = { scm_type: 'git', scm_url: 'https://a.example/b' };
  const project = await make.project({ organization, ...git });
  const workflow = await make.workflowTemplate({ organization });
  const inventory = await make.inventory({ organization });
  const source = await make.row('inventory_source', {
    ...{ name: 'From the cloud', inventory: inventory.id, source: 'ec2' },
  });
  await database.execute(sql`UPDATE unified_jobs SET status = 'canceled'`);
  const read = await schedule({}, source);
  const [update, led] = [await schedule({}, project), await schedule({}, workflow)];
  await miss(0, update, led, read);
  await launch();
  expect(await runsOf(update)).toMatchObject([
    { type: 'project_update', launch_type: 'scheduled', status: 'pending' },
  ]);
  expect(await runsOf(led)).toMatchObject([
    { type: 'workflow_job', launch_type: 'scheduled', unified_job_template_id: workflow.id },
  ]);
  expect(await runsOf(read)).toMatchObject([
    { type: 'inventory_update', launch_type: 'scheduled', inventory_source_id: source.id },
  ]);
  const runs = [await runsOf(update), await runsOf(led), await runsOf(read)].flat();
  const kinds = ['inventory_update', 'project_update', 'workflow_job'];
  expect((await recordedKinds(database, idsOf(runs))).sort()).toEqual(kinds);
});

it('fifty schedules need the same statements as one', async () => {
  const simultaneous = await test.make.jobTemplate({ allow_simultaneous: true });
  await test.as.superuser.patch('settings/jobs/', { SCHEDULE_MAX_JOBS: 100 }).expect(200);
  const counts: number[] = [];
  for (const size of [1, 50]) {
    const rows: Row[] = [];
    for (let made = 0; made < size; made++) rows.push(await schedule({}, simultaneous));
    await miss(0, ...rows);
    counts.push(await countQueries(test.database, launch));
    expect(await runsOf(rows.at(-1)!)).toHaveLength(1);
  }
  expect(counts[0]).toBe(counts[1]);
  await test.as.superuser.delete('settings/jobs/').expect(204);
});
