import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { Samples } from '../support/samples.js';
import { inBrowser, openDrawer, seriousFaults, visit } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
  await fill(new Samples(test));
});
afterAll(() => test.close());

/** Creates two weeks of jobs, some of them failed, and all other content of the page. */
async function fill(samples: Samples): Promise<void> {
  const template = (await samples.of('job_template')).id;
  await test.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, organization_id, started,
      finished)
    SELECT 'job', (ARRAY['Deploy the shop', 'Patch servers', 'Renew certificates'])[1 + n % 3],
      CASE WHEN n < 2 THEN 'running' WHEN n % 7 = 3 THEN 'failed' ELSE 'successful' END,
      ${template}, ${test.home.organization.id}, now() - make_interval(hours => n * n % 330),
      CASE WHEN n >= 2 THEN now() - make_interval(hours => n * n % 330) END
    FROM generate_series(0, 99) AS n`);
  await samples.of('webhook_delivery');
  const destination = await test.make.notificationTemplate({
    name: 'Operations chat',
    organization: test.home.organization.id,
  });
  await test.database.execute(sql`
    INSERT INTO notifications (notification_template_id, notification_type, status, event, error)
    VALUES (${destination.id}, 'webhook', 'failed', 'error', 'The server answered 503.')`);
}

inBrowser()('the dashboard', () => {
  it('links to search results', async () => {
    const { page, faults, close } = await visit(test, test.as.users.superuser, {
      viewport: { width: 390, height: 800 },
    });
    await page.goto('/');
    await page.getByRole('searchbox', { name: 'Find anything' }).fill('operations');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Notification Template' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Operations chat' }).click();
    await page.getByRole('heading', { level: 1, name: 'Operations chat' }).waitFor();
    await openDrawer(page);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'All jobs' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it.each(IS_DEEP ? (['light', 'dark'] as const) : (['light'] as const))(
    'shows the results of jobs in the %s theme',
    async (colorScheme) => {
      const options = { colorScheme, viewport: { width: 1280, height: 900 } };
      const { page, faults, close } = await visit(test, test.as.users.superuser, options);
      await page.goto('/');
      await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
      await page.getByRole('img', { name: /^Jobs by day: \d+ successful, \d+ failed/ }).waitFor();
      await page.getByRole('link', { name: 'Operations chat' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByText('As a table').click();
      expect(
        await page.getByRole('region', { name: 'Jobs by day' }).locator('tbody tr').count(),
      ).toBe(14);
      await page.getByRole('link', { name: 'Deploy the shop' }).first().click();
      await page.waitForURL(/\/jobs\/\d+\/$/);
      expect(faults).toEqual([]);
      await close();
    },
  );

  it('updates itself while it is visible, and pauses while it is hidden', async () => {
    const { page, faults, close } = await visit(test, test.as.users.superuser);
    let asked = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/') asked += 1;
    });
    await page.clock.install();
    await page.goto('/');
    await page.getByText('As a table').click();
    await test.database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, started)
      SELECT 'job', 'Begun just now', 'running', id, now() FROM unified_job_templates LIMIT 1`);
    expect(await page.getByRole('link', { name: 'Begun just now' }).count()).toBe(0);
    await page.clock.runFor(21_000);
    await page.getByRole('link', { name: 'Begun just now' }).waitFor();
    await page.getByRole('region', { name: 'Jobs by day' }).locator('tbody tr').first().waitFor();
    expect(asked).toBe(2);
    await page.clock.runFor(10 * 60_000);
    const inTime = asked;
    expect(inTime).toBeGreaterThan(2);
    await page.clock.runFor(10 * 60_000);
    expect(asked).toBe(inTime);
    expect(faults).toEqual([]);
    await close();
  });
});
