import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let template: Row;
let job: Row;
beforeAll(async () => {
  test = await boot();
  const { as, make, home } = test;
  const project = await make.project({ organization: home.organization.id });
  template = await make.jobTemplate({ project: project.id });
  await make.grant('job_template', template, 'read_role', { user: as.users.teamMember });
  job = await makeJob();
  await addEvents(job, [
    ['playbook_on_start', 'start', ''],
    ['playbook_on_play_start', 'play', 'start'],
    ['playbook_on_task_start', 'task', 'play', 'T'.repeat(3000)],
    ['runner_on_ok', 'ok', 'task', 'ä'.repeat(3000)],
    ['runner_on_failed', 'bad', 'task', 'short'],
  ]);
});
afterAll(() => test.close());

type Made = readonly [event: string, uuid: string, parent: string, stdout?: string];

async function makeJob(): Promise<Row> {
  const url = `job_templates/${template.id}/launch/`;
  return (await test.as.superuser.post(url, {}).expect(201)).body as Row;
}

async function addEvents(run: Row, events: readonly Made[]): Promise<void> {
  for (const [index, [event, uuid, parent, stdout = '']] of events.entries()) {
    // Lines run against the counters, so that the default order shows.
    const line = events.length - index;
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, uuid, parent_uuid, stdout, start_line,
        end_line, failed, role)
      VALUES (${run.id}, ${index + 1}, ${event}, ${uuid}, ${parent}, ${stdout}, ${line},
        ${line + 1}, ${event === 'runner_on_failed'}, 'web')`);
  }
}

const list = (path = '') => test.as.superuser.get(`jobs/${job.id}/job_events/${path}`).expect(200);
const countersOf = (body: { results: Row[] }): unknown[] => body.results.map((row) => row.counter);

const READ: Record<PersonaName, number> = {
  superuser: 200,
  auditor: 200,
  orgAdmin: 200,
  orgMember: 403,
  teamAdmin: 403,
  teamMember: 200,
  outsider: 403,
  nobody: 403,
};

it.each(PERSONA_NAMES)('%s shows events of readable jobs only', async (name) => {
  const client = test.as[name];
  await client.get(`jobs/${job.id}/job_events/`).expect(READ[name]);
  const all = await client.get('job_events/').expect(200);
  expect(all.body.count > 0).toBe(READ[name] === 200);
  const ofJob = await client.get(`job_events/?job=${job.id}`).expect(200);
  expect(ofJob.body.count).toBe(READ[name] === 200 ? 5 : 0);
  const { body } = await list('?counter=1');
  const url = `job_events/${body.results[0].id}/`;
  await client.get(url).expect(READ[name]);
  await client.get(`${url}children/`).expect(READ[name]);
  await client.post('job_events/', {}).expect(405);
  await client.delete(url).expect(405);
});

it('events are in the order of the output, or in the requested order', async () => {
  const response = await list();
  expect(countersOf(response.body)).toEqual([5, 4, 3, 2, 1]);
  expect(response.headers['x-ui-max-events']).toBe('4000');
  expect(countersOf((await list('?order_by=counter')).body)).toEqual([1, 2, 3, 4, 5]);
});

describe('paging', () => {
  it('supports pages, and a limit that overrides them', async () => {
    const page = await list('?page=2&page_size=2&order_by=counter');
    expect(page.body).toMatchObject({ count: 5, results: [{ counter: 3 }, { counter: 4 }] });
    const limited = await list('?limit=2&page=2&order_by=counter&counter__gt=1');
    expect(Object.keys(limited.body)).toEqual(['results']);
    expect(countersOf(limited.body)).toEqual([2, 3]);
    const all = await test.as.superuser.get('job_events/?limit=1').expect(200);
    expect(Object.keys(all.body)).toEqual(['results']);
  });

  it('shows clients how many events to expect', async () => {
    const most = async (): Promise<string | undefined> =>
      (await list()).headers['x-ui-max-events'] as string | undefined;
    expect(await most()).toBe('4000');
    await test.as.superuser.patch('settings/ui/', { MAX_UI_JOB_EVENTS: 99 }).expect(400);
    await test.as.superuser.patch('settings/ui/', { MAX_UI_JOB_EVENTS: 150 }).expect(200);
    expect(await most()).toBe('150');
    await test.as.superuser.delete('settings/ui/').expect(204);
  });

  it('applies the limit also below an event', async () => {
    const { body } = await list('?event=playbook_on_task_start');
    const url = `job_events/${body.results[0].id}/children/`;
    const limited = await test.as.superuser.get(`${url}?limit=1`).expect(200);
    expect(Object.keys(limited.body)).toEqual(['results']);
    expect(countersOf(limited.body)).toEqual([5]);
    const children = await test.as.superuser.get(url).expect(200);
    expect(children.body.count).toBe(2);
    expect(countersOf(children.body)).toEqual([5, 4]);
  });
});

describe('output', () => {
  const stdoutOf = async (query: string): Promise<string> =>
    (await list(query)).body.results[0].stdout as string;

  it('is truncated in lists, except for playbook events and on request', async () => {
    const cut = await stdoutOf('?counter=4');
    expect(cut).toMatch(/^ä+…$/);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024 + 2);
    expect(await stdoutOf('?counter=3')).toHaveLength(3000);
    expect(await stdoutOf('?counter=4&no_truncate=True')).toHaveLength(3000);
    expect(await stdoutOf('?counter=5')).toBe('short');
    const all = await test.as.superuser.get('job_events/?counter=4').expect(200);
    expect(all.body.results[0].stdout).toMatch(/…$/);
  });

  it('is truncated below hosts, groups and events too', async () => {
    const { make, as, database } = test;
    const inventory = await make.inventory();
    const host = await make.host(inventory);
    const group = await make.group(inventory);
    await as.superuser.post(`groups/${group.id}/hosts/`, { id: host.id }).expect(204);
    const { body } = await list('?counter=3');
    await database.execute(sql`
      UPDATE job_events SET host_id = ${host.id} WHERE job_id = ${job.id} AND counter = 4`);
    for (const path of [
      `hosts/${host.id}/job_events/`,
      `groups/${group.id}/job_events/`,
      `job_events/${body.results[0].id}/children/`,
    ]) {
      const at = async (query: string): Promise<unknown> => {
        const { body: shown } = await as.superuser.get(`${path}?counter=4&${query}`).expect(200);
        return shown.results[0].stdout;
      };
      expect(await at('')).toMatch(/^ä{1,520}…$/);
      expect(await at('no_truncate=1')).toHaveLength(3000);
    }
  });

  it('is complete in lists if the setting has no limit', async () => {
    const unlimited = await boot({ settings: { EVENT_STDOUT_MAX_BYTES_DISPLAY: '0' } });
    const { id: templateId } = await unlimited.make.jobTemplate();
    const launch = `job_templates/${templateId}/launch/`;
    const { id } = (await unlimited.as.superuser.post(launch, {}).expect(201)).body;
    await unlimited.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, uuid, parent_uuid, stdout, start_line, end_line)
      VALUES (${id}, 1, 'runner_on_ok', 'ok', '', 'short', 0, 1)`);
    const { body } = await unlimited.as.superuser.get(`jobs/${id}/job_events/`).expect(200);
    expect(body.results[0].stdout).toBe('short');
    await unlimited.close();
  });

  it('is complete in the detail view', async () => {
    const { body } = await list('?counter=4');
    const detail = await test.as.superuser.get(body.results[0].url).expect(200);
    expect(detail.body.stdout).toHaveLength(3000);
  });
});

it('events can be filtered as clients do', async () => {
  const cases: [string, number[]][] = [
    ['event=runner_on_ok', [4]],
    ['event__in=runner_on_ok,runner_on_failed', [4, 5]],
    ['failed=true', [5]],
    ['counter__gt=3', [4, 5]],
    ['counter__lte=1', [1]],
    ['parent_uuid=task', [4, 5]],
    ['search=short', [5]],
    ['start_line__gte=5', [1]],
  ];
  for (const [query, counters] of cases) {
    expect(countersOf((await list(`?order_by=counter&${query}`)).body)).toEqual(counters);
  }
});

it('an event names its job and template', async () => {
  const { body } = await list('?counter=1');
  expect(body.results[0]).toMatchObject({
    type: 'job_event',
    related: { job: `/api/v2/jobs/${job.id}/`, children: `${body.results[0].url}children/` },
    summary_fields: {
      job: { id: job.id, job_template_id: template.id, job_template_name: template.name },
      role: 'web',
    },
  });
});

it('children are counted after all events are stored', async () => {
  const url = `jobs/${job.id}/job_events/children_summary/`;
  const early = await test.as.superuser.get(url).expect(200);
  expect(early.body).toEqual({
    children_summary: {},
    meta_event_nested_uuid: {},
    event_processing_finished: false,
    is_tree: true,
  });
  await test.database.execute(
    sql`UPDATE unified_jobs SET event_processing_finished = true WHERE id = ${job.id}`,
  );
  const { body } = await test.as.superuser.get(url).expect(200);
  expect(body).toMatchObject({
    children_summary: { 1: { rowNumber: 0, numChildren: 4 }, 3: { rowNumber: 2, numChildren: 2 } },
    event_processing_finished: true,
    is_tree: true,
  });
});

it('the events of a job with more than 100,000 events have no tree', async () => {
  const large = await makeJob();
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, uuid, parent_uuid, start_line, end_line)
    SELECT ${large.id}, number, 'verbose', number, '', 0, 0 FROM generate_series(1, 100001) number`);
  await test.database.execute(
    sql`UPDATE unified_jobs SET event_processing_finished = true WHERE id = ${large.id}`,
  );
  const url = `jobs/${large.id}/job_events/children_summary/`;
  expect((await test.as.superuser.get(url).expect(200)).body).toEqual({
    children_summary: {},
    meta_event_nested_uuid: {},
    event_processing_finished: true,
    is_tree: false,
  });
});

it('host summaries are readable with their job', async () => {
  const [row] = await test.database.rows<Row>(sql`
    INSERT INTO job_host_summaries (job_id, host_name, ok, failed)
    VALUES (${job.id}, 'web-1', 3, false) RETURNING id`);
  const listed = await test.as.teamMember.get(`jobs/${job.id}/job_host_summaries/`).expect(200);
  expect(listed.body.results).toMatchObject([{ id: row!.id, host_name: 'web-1', ok: 3 }]);
  const detail = await test.as.teamMember.get(`job_host_summaries/${row!.id}/`).expect(200);
  expect(detail.body.related.job).toBe(`/api/v2/jobs/${job.id}/`);
  await test.as.nobody.get(`job_host_summaries/${row!.id}/`).expect(403);
});

it('fifty events need as many statements as one', async () => {
  const run = await makeJob();
  await addEvents(
    run,
    Array.from({ length: 50 }, (_, index) => ['runner_on_ok', `u${index}`, '', 'x'] as const),
  );
  const url = `jobs/${run.id}/job_events/`;
  await samePageQueries(test.database, test.as.teamMember, url, [1, 50]);
});
