import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';
import { Samples } from '../support/samples.js';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let test: TestApp;
let samples: Samples;
let template: Row;

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  template = await samples.of('job_template');
});
afterAll(() => test.close());

async function addJobs(name: string, status: string, count: number): Promise<void> {
  const isOver = !['pending', 'running'].includes(status);
  await test.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      organization_id, started, finished)
    SELECT 'job', ${name} || n, ${status}, ${template.id}, ${template.id},
      ${test.home.organization.id}, now(), CASE WHEN ${isOver} THEN now() END
    FROM generate_series(1, ${count}::int) AS n`);
}

async function addNotification(name: string): Promise<void> {
  const destination = await test.make.notificationTemplate({
    name,
    organization: test.home.organization.id,
  });
  await test.database.execute(sql`
    INSERT INTO notifications (notification_template_id, notification_type, status, event, error)
    VALUES (${destination.id}, 'webhook', 'failed', 'error', 'It said <no>.')`);
}

const page = async (who: 'superuser' | 'nobody' | 'teamMember'): Promise<string> =>
  (await test.as[who].with(BROWSER).get('/').expect(200)).text;

describe('the dashboard', () => {
  beforeAll(async () => {
    await addJobs('Running ', 'running', 1);
    await addJobs('Broken ', 'failed', 2);
    await addJobs('Good ', 'successful', 3);
    await addNotification('Quiet chat');
    await samples.of('webhook_delivery');
  });

  it('shows running jobs, failures and webhook deliveries', async () => {
    const text = await page('superuser');
    expect(text).toContain('Jobs by day: 3 successful, 2 failed, 0 error, 0 canceled');
    expect(text).toContain('Running 1');
    expect(text).toContain('Broken 2');
    expect(text).not.toContain('Good 1');
    expect(text).toContain('Quiet chat');
    expect(text).toContain('It said &lt;no&gt;.');
    expect(text).toContain('verdict=ignored');
  });

  it('shows only objects that the caller may read', async () => {
    const text = await page('nobody');
    expect(text).toContain('Jobs by day: 0 successful, 0 failed');
    for (const word of ['Running 1', 'Broken 2', 'Quiet chat', 'verdict=']) {
      expect(text).not.toContain(word);
    }
    // The team may run the template, and with it see its jobs.
    const own = await page('teamMember');
    expect(own).toContain('Running 1');
    expect(own).not.toContain('Quiet chat');
  });

  it('needs as many statements for many rows as for few', async () => {
    const show = () => test.as.teamMember.with(BROWSER).get('/').expect(200);
    await show();
    const few = await countQueries(test.database, show);
    await addJobs('Many ', 'failed', 40);
    await addJobs('More ', 'pending', 40);
    expect(await countQueries(test.database, show)).toBe(few);
    // One statement for each part of the page, and one for the settings about it.
    expect(few).toBeLessThanOrEqual(8);
    await test.database.execute(sql`DELETE FROM unified_jobs WHERE name ~ '^(Many|More) '`);
  });

  it('requires a login, and redirects API clients to the API', async () => {
    const { headers } = await test.as.anonymous.with(BROWSER).get('/').expect(302);
    expect(headers.location).toBe('/api/login/?next=%2F');
    const program = await test.as.superuser.get('/').expect(302);
    expect(program.headers.location).toBe('/api/v2/');
  });
});
