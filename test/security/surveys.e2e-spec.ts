/** The size of surveys and their answers is limited, and the time of validation is linear in that size. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { eventLoopTime } from '../support/event-loop.js';
import { LOST_SURVEY } from '../support/lost-key.js';

let test: TestApp;
let executor: ApiClient;
beforeAll(async () => {
  test = await boot();
  executor = test.as.outsider;
});
afterAll(() => test.close());

const choices = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `c${index}`);
const selection = (fields: object): object => ({
  name: '',
  description: '',
  spec: [{ question_name: 'Q', variable: 'x', type: 'multiselect', ...fields }],
});

/** A template that the executor may launch. */
async function template(): Promise<Row> {
  const { make, home, as } = test;
  const project = await make.project({ organization: home.organization.id });
  const inventory = await make.inventory({ organization: home.organization.id });
  const row = await make.jobTemplate({
    project: project.id,
    inventory: inventory.id,
    survey_enabled: true,
  });
  await make.grant('job_template', row, 'execute_role', { user: as.users.outsider });
  return row;
}

describe('a survey', () => {
  it.each([
    [
      'too many choices',
      { choices: choices(1001) },
      'Survey question 0 may have at most 1000 choices.',
    ],
    [
      'too many lines of choices',
      { choices: choices(30_000).join('\n') },
      "'spec' may have at most 131072 characters.",
    ],
    [
      'a default that is too long',
      { type: 'textarea', default: 'x'.repeat(131_072) },
      "'spec' may have at most 131072 characters.",
    ],
  ])('is refused for %s', async (_case, fields, detail) => {
    const { id } = await template();
    const { body } = await test.as.superuser
      .post(`job_templates/${id}/survey_spec/`, selection(fields))
      .expect(400);
    expect(body).toEqual({ detail });
  });
});

describe('answers', () => {
  const faultOf = async (id: number, extra_vars: object): Promise<unknown> => {
    const { body } = await executor.post(`job_templates/${id}/launch/`, { extra_vars }).expect(400);
    return body.variables_needed_to_start;
  };

  it('are counted, and only the first errors are reported', async () => {
    const { id } = await template();
    const spec = selection({ choices: choices(1000) });
    await test.as.superuser.post(`job_templates/${id}/survey_spec/`, spec).expect(200);
    expect(await faultOf(id, { x: choices(1001) })).toEqual([
      "'x' value has too many items (must be no more than 1000).",
    ]);
    const wrong = await faultOf(id, { x: Array.from({ length: 1000 }, () => 'no') });
    expect(wrong).toHaveLength(10);
    expect((wrong as string[])[0]).toMatch(
      /^Value no for 'x' expected to be one of \['c0', .*, \.\.\.\]\.$/,
    );
    expect((wrong as string[])[0]!.length).toBeLessThan(1000);
    await executor
      .post(`job_templates/${id}/launch/`, { extra_vars: { x: choices(1000) } })
      .expect(201);
  });

  it('of type text have a maximum length', async () => {
    const { id } = await template();
    const spec = selection({ type: 'textarea' });
    await test.as.superuser.post(`job_templates/${id}/survey_spec/`, spec).expect(200);
    expect(await faultOf(id, { x: 'x'.repeat(65_537) })).toEqual([
      "'x' value is too long (must be no more than 65536).",
    ]);
  });

  it.each([
    ['right', choices(30_000)],
    ['wrong', Array.from({ length: 60_000 }, (_, index) => `w${index}`)],
  ])(
    'that are %s do not block other requests, even for an old survey without limits',
    async (_case, x) => {
      const { id } = await template();
      const [question] = (selection({ choices: choices(30_000) }) as { spec: object[] }).spec;
      await test.database.execute(sql`
      UPDATE unified_job_templates
      SET survey_spec = ${JSON.stringify({ name: '', description: '', spec: [question] })}
      WHERE id = ${id}`);
      const launch = () => executor.post(`job_templates/${id}/launch/`, { extra_vars: { x } });
      let status = 0;
      const time = await eventLoopTime(async () => {
        ({ status } = await launch());
      });
      expect(status).toBe(400);
      expect(time).toBeLessThan(800);
    },
  );
});

it('a survey whose secrets cannot be decrypted can be replaced', async () => {
  const { id } = await template();
  await test.database.execute(sql`
    UPDATE unified_job_templates SET survey_spec = ${LOST_SURVEY} WHERE id = ${id}`);
  const replace = (answer: string) => {
    const question = { question_name: 'Token', variable: 'token', type: 'password' };
    const spec = [{ ...question, default: answer }];
    const body = { name: '', description: '', spec };
    return test.as.superuser.post(`job_templates/${id}/survey_spec/`, body);
  };
  const { body } = await test.as.superuser.post(`job_templates/${id}/launch/`).expect(400);
  expect(body).toEqual({ detail: 'A stored secret cannot be decrypted (unknown_key).' });
  await test.as.superuser.get(`job_templates/${id}/launch/`).expect(400);
  await test.as.superuser.post(`job_templates/${id}/copy/`, { name: 'Copy' }).expect(400);
  await replace('$encrypted$').expect(400);
  await replace('entered again').expect(200);
});

it('a survey whose secrets cannot be decrypted is copied without secrets', async () => {
  const { as, database, make } = test;
  const { id, project_id, inventory_id } = await template();
  await database.execute(sql`
    UPDATE unified_job_templates SET survey_spec = ${LOST_SURVEY} WHERE id = ${id}`);
  const user = as.users.outsider;
  await make.grant('project', { id: Number(project_id) }, 'use_role', { user });
  await make.grant('inventory', { id: Number(inventory_id) }, 'use_role', { user });
  const { body } = await executor
    .post(`job_templates/${id}/copy/`, { name: 'Without secrets' })
    .expect(201);
  const { body: survey } = await executor.get(`job_templates/${body.id}/survey_spec/`).expect(200);
  expect(survey.spec).toMatchObject([{ variable: 'token', default: '' }]);
});
