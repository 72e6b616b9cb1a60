/** Custom messages that cannot be rendered: the default message is sent, with a note. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { NotifiedRuns, type NotificationRecord } from './notified-runs.js';

const TEN_MEGABYTES = 'x'.repeat(10_000_000);

let runs: NotifiedRuns;
let template: Row;

beforeAll(async () => {
  runs = await NotifiedRuns.start();
});
afterAll(() => runs.stop());
beforeEach(async () => {
  template = await runs.jobTemplate();
});

/** A hook with messages that saving them would refuse in part. */
async function hook(messages: object): Promise<Row> {
  const made = await runs.test.make.notificationTemplate({
    organization: runs.test.home.organization.id,
    notification_configuration: { url: `${runs.http.url}/hook`, headers: {} },
  });
  await runs.test.database.execute(sql`
    UPDATE notification_templates SET messages = ${JSON.stringify(messages)}::json
    WHERE id = ${made.id}`);
  return made;
}

async function sentWith(
  body: string,
  run?: { artifacts?: object; extraVars?: string },
): Promise<NotificationRecord> {
  await runs.attach(await hook({ error: { body } }), template, 'error');
  const [id] = await runs.ends(template, 'failed', run);
  return runs.settled(id!);
}

// src/notifications/message/template-sandbox.spec.ts proves which templates cannot be rendered.
it.each([
  ['a range bomb', '{% for i in range(999999999) %}x{% endfor %}', 'range'],
  ['slow filters', '{% for a in range(9999) %}{{ job_metadata | upper | lower }}{% endfor %}', ''],
  ['no template', '{{ job.id', ''],
  ['a way to internals', "{{ ''.constructor.constructor('return process')() }}", 'constructor'],
])('%s', async (_name, body, reason) => {
  const record = await sentWith(body);
  expect(record).toMatchObject({
    status: 'successful',
    error: '',
    body: {
      name: 'deploy',
      status: 'failed',
      note: expect.stringMatching(
        /^The custom body could not be rendered: .+\. This is the default text\.$/,
      ),
    },
  });
  expect(record.body.note).toContain(reason);
  expect(JSON.parse(runs.http.last.body)).toEqual(record.body);
});

it('an output of ten megabytes is sent', async () => {
  const record = await sentWith('{{ job.artifacts.log }}', { artifacts: { log: TEN_MEGABYTES } });
  expect(record).toMatchObject({ status: 'successful', body: { name: 'deploy' } });
  expect(record.body.note).toContain('too long');
  expect(runs.http.last.body.length).toBeLessThan(100_000);
});

it('objects of ten megabytes do not delay another template', async () => {
  const artifacts = Object.fromEntries(
    Array.from({ length: 200_000 }, (_, i) => [`key ${i}`, { value: `value number ${i}` }]),
  );
  const record = await sentWith('{"id": {{ job.id }}}', { artifacts });
  expect(record.status).toBe('successful');
  expect(record.body.id).toEqual(expect.any(Number));
});

it('variables of ten megabytes are truncated, with a note', async () => {
  await runs.attach(await hook({}), template, 'error');
  const [id] = await runs.ends(template, 'failed', {
    extraVars: JSON.stringify({ log: TEN_MEGABYTES }),
  });
  const record = await runs.settled(id!);
  expect(record).toMatchObject({ status: 'successful', body: { truncated: ['extra_vars'] } });
  expect(runs.http.last.body.length).toBeLessThan(100_000);
});

it('missing variables are empty, and an empty body is reported', async () => {
  expect((await sentWith('{"a": "{{ nothing.at.all }}", "b": "{{ job.nothing }}"}')).body).toEqual({
    a: '',
    b: '',
  });
  template = await runs.jobTemplate();
  const blank = await sentWith('{{ nothing }}');
  expect(blank.status).toBe('successful');
  expect(blank.body.body).toMatch(/^The template rendering return a blank body\./);
});

it('values with quotes are sent, and the default if a body is not valid JSON', async () => {
  const explained = await sentWith('{"why": "{{ job.job_explanation }} \\"{{ job.name }}\\""}');
  expect(explained).toMatchObject({ status: 'successful', body: { why: expect.any(String) } });
  template = await runs.jobTemplate();
  expect(await sentWith('{{ job.name }}')).toMatchObject({
    status: 'successful',
    body: { id: expect.any(Number), note: expect.stringContaining('it is not valid JSON') },
  });
});

it('templates that never terminate delay neither others nor their own next message', async () => {
  const bomb = '{% for a in range(9999) %}{{ job_metadata | upper | lower }}{% endfor %}';
  await runs.attach(await hook({ error: { body: bomb } }), template, 'error');
  const other = await runs.jobTemplate();
  await runs.attach(await hook({ error: { body: '{"own": {{ job.id }}}' } }), other, 'error');
  const bombs: number[] = [];
  for (let i = 0; i < 20; i++) bombs.push(...(await runs.ends(template, 'failed')));
  const [id] = await runs.ends(other, 'failed');
  expect((await runs.settled(id!)).body).toEqual({ own: expect.any(Number) });
  for (const each of bombs) {
    expect((await runs.settled(each)).body.note).toMatch(/^The custom body could not be rendered/);
  }
});
