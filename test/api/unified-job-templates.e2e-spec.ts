import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { samePageQueries } from '../support/queries.js';
import { Samples, sampleTypes } from '../support/samples.js';

let test: TestApp;
let project: Row;
let template: Row;
async function prepare(): Promise<void> {
  test = await boot();
  const { as, make, home } = test;
  const source = { scm_type: 'git', scm_url: 'https://code.invalid/x.git' };
  project = await make.row('project', { name: 'A', organization: home.organization.id, ...source });
  const manual = await make.project({ organization: home.organization.id });
  template = await make.jobTemplate({ name: 'B', project: manual.id });
  await as.superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
  await make.grant('job_template', template, 'read_role', { user: as.users.nobody });
}

const typesOf = (body: { results: Row[] }): unknown[] => body.results.map(({ type }) => type);

describe('unified_job_templates', () => {
  beforeAll(prepare);
  afterAll(() => test.close());

  it('lists every type in its own form, by name', async () => {
    const { body } = await test.as.orgAdmin.get('unified_job_templates/').expect(200);
    expect(body.results.slice(0, 2)).toMatchObject([
      { type: 'project', url: `/api/v2/projects/${project.id}/`, scm_type: 'git' },
      { type: 'job_template', url: `/api/v2/job_templates/${template.id}/`, playbook: 'site.yml' },
    ]);
  });

  it('lists readable templates that use an execution environment', async () => {
    const { as, make, home } = test;
    const organization = home.organization.id;
    const { id } = await make.row('execution_environment', { name: 'Used', image: 'used' });
    const uses = { execution_environment: id };
    const synced = await make.project({ organization, default_environment: id });
    const inventory = await make.inventory({ organization });
    const templated = await make.jobTemplate({
      project: project.id,
      inventory: inventory.id,
      ...uses,
    });
    await make.jobTemplate({ project: synced.id, inventory: inventory.id });
    const source = await make.row('inventory_source', {
      ...{ name: 'Hosts', inventory: inventory.id, source: 'scm', source_project: project.id },
      ...uses,
    });
    const listed = async (client: TestApp['as']['superuser'], query = ''): Promise<number[]> => {
      const { body } = await client
        .get(`execution_environments/${id}/unified_job_templates/${query}`)
        .expect(200);
      return body.results.map((one: Row) => one.id);
    };
    const all = [synced.id, templated.id, source.id].map(Number);
    expect((await listed(as.orgAdmin)).sort((one, other) => one - other)).toEqual(all);
    expect(await listed(as.orgAdmin, '?type=project')).toEqual([synced.id]);
    expect(await listed(as.outsider)).toEqual([]);
  });

  it('shows only readable templates, and one type on request', async () => {
    const mine = await test.as.nobody.get('unified_job_templates/').expect(200);
    expect(typesOf(mine.body)).toEqual(['job_template']);
    const projects = await test.as.orgAdmin.get('unified_job_templates/?type=project').expect(200);
    expect(new Set(typesOf(projects.body))).toEqual(new Set(['project']));
    await test.as.superuser.post('unified_job_templates/', {}).expect(405);
  });
});

describe('unified_jobs', () => {
  beforeAll(prepare);
  afterAll(() => test.close());

  it('lists every type of run, by id', async () => {
    const { body } = await test.as.orgAdmin.get('unified_jobs/').expect(200);
    expect(typesOf(body)).toEqual(['project_update', 'job']);
    expect(body.results[1]).not.toHaveProperty('job_env');
  });

  it('shows only readable runs, and filters', async () => {
    const mine = await test.as.nobody.get('unified_jobs/').expect(200);
    expect(typesOf(mine.body)).toEqual(['job']);
    const cases: [string, number][] = [
      ['type=job', 1],
      ['type=job,project_update', 2],
      ['status=pending', 2],
      ['status__in=successful,failed', 0],
      ['launch_type=manual', 2],
      ['name=B', 1],
      [`unified_job_template=${template.id}`, 1],
      ['finished__gt=2020-01-01', 0],
    ];
    for (const [query, count] of cases) {
      const { body } = await test.as.superuser.get(`unified_jobs/?${query}`).expect(200);
      expect([query, body.count]).toEqual([query, count]);
    }
    await test.as.superuser.post('unified_jobs/', {}).expect(405);
    await test.as.anonymous.get('unified_jobs/').expect(401);
  });

  it('has ids that are unique across types', async () => {
    const { body } = await test.as.superuser.get('unified_jobs/').expect(200);
    const ids = body.results.map(({ id }: Row) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('needs as many statements for fifty rows as for two', async () => {
    const { body: known } = await test.as.superuser.get('unified_jobs/').expect(200);
    const last = Math.max(...known.results.map(({ id }: Row) => id));
    for (let i = 0; i < 25; i++) {
      await test.as.superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
      await test.as.superuser.post(`projects/${project.id}/update/`).expect(202);
    }
    await samePageQueries(test.database, test.as.orgAdmin, 'unified_jobs/?order_by=-id', [2, 50]);
    await test.database.execute(sql`DELETE FROM unified_jobs WHERE id > ${last}`);
  });
});

describe('the template of runs', () => {
  beforeAll(async () => {
    await prepare();
    const samples = new Samples(test);
    for (const type of sampleTypes()) await samples.of(type);
    await samples.linkAll();
    await test.database.execute(sql`
      UPDATE unified_jobs SET unified_job_template_id = ${template.id}
      WHERE unified_job_template_id IS NULL`);
  }, 60_000);
  afterAll(() => test.close());

  it.each([
    ...['jobs', 'project_updates', 'inventory_updates', 'system_jobs'],
    ...['workflow_jobs', 'workflow_approvals', 'unified_jobs'],
  ])('is shown by the list %s with the type of the run', async (path) => {
    const { body } = await test.as.superuser.get(`${path}/`).expect(200);
    expect(body.count).toBeGreaterThan(0);
    for (const { type, summary_fields: summaries } of body.results) {
      if (type === 'ad_hoc_command') continue;
      expect([type, summaries.unified_job_template.unified_job_type]).toEqual([type, type]);
    }
  });
});
