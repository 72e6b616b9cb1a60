/**
 * The page of a run explains its failure: the reason above the output, the failed tasks with their messages,
 * the output by line and task, and the differences from the last successful run.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { describePages, inBrowser, seriousFaults, visit } from './browser.js';

let test: TestApp;
let template: Row;
let good: Row;
let failed: Row;

/** Text that would be dangerous if a page read it as HTML. */
const CANARY = '<img src=x onerror=alert(1)>';
const MESSAGE = `The service did not start ${CANARY}`;

const run = async (status: string, more: Row | object): Promise<Row> => {
  const values = { revision: 'a'.repeat(40), variables: '{}', explanation: '', ...more };
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
      organization_id, project_id, inventory_id, playbook, scm_revision, extra_vars,
      job_explanation, started, finished, elapsed)
    SELECT 'job', name, ${status}, ${status !== 'successful'}, id, id, ${test.home.organization.id},
      project_id, inventory_id, 'site.yml', ${values.revision}, ${values.variables},
      ${values.explanation}, now() - interval '95 seconds', now(), 95
    FROM unified_job_templates WHERE id = ${template.id} RETURNING *`))!;
};

/** Stores events as a run of one task does, each with its output. */
const events = async (
  job: Row,
  given: [event: string, host: string, task: string, text: string][],
) => {
  for (const [index, [event, host, task, text]] of given.entries()) {
    const isFailure = event === 'runner_on_failed';
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, host_name, play, task, parent_uuid, failed,
        stdout, start_line, end_line, event_data)
      VALUES (${job.id}, ${index + 1}, ${event}, ${host}, 'Put online', ${task}, ${task}, ${isFailure},
        ${text}, ${index}, ${index + 1}, ${isFailure ? JSON.stringify({ res: { msg: MESSAGE } }) : '{}'})`);
  }
};

beforeAll(async () => {
  test = await boot();
  template = await test.make.jobTemplate({ name: 'Deploy the shop' });
  good = await run('successful', { variables: '{"region": "north", "size": 3}' });
  await events(good, [
    ['playbook_on_task_start', '', 'Install', 'TASK [Install] ****'],
    ['runner_on_ok', 'web-1', 'Install', 'ok: [web-1]'],
  ]);
  const variables = `{"region": "south", "size": 3, "note": ${JSON.stringify(CANARY)}}`;
  failed = await run('failed', { variables, revision: 'b'.repeat(40) });
  await events(failed, [
    ['playbook_on_play_start', '', '', 'PLAY [Put online] ****'],
    ['playbook_on_task_start', '', 'Install', 'TASK [Install] ****'],
    ['runner_on_ok', 'web-1', 'Install', '\u001B[0;32mok: [web-1]\u001B[0m'],
    ['playbook_on_task_start', '', 'Start', 'TASK [Start] ****'],
    ['runner_on_failed', 'web-1', 'Start', `\u001B[0;31mfatal: [web-1]: ${CANARY}\u001B[0m`],
    ['playbook_on_stats', '', '', 'PLAY RECAP ****'],
  ]);
  await test.database.execute(sql`
    INSERT INTO job_host_summaries (job_id, host_name, ok, changed, failures, dark, skipped, failed)
    VALUES (${failed.id}, 'web-1', 1, 0, 1, 0, 0, true)`);
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('the page of a failed run', session, (open, javaScriptEnabled) => {
  beforeEach(() => open.page.goto(`/api/v2/jobs/${failed.id}/`));

  it('shows above the output which task failed on which hosts, and links to the line', async () => {
    const { page } = open;
    const cause = page.locator('.cause');
    await cause.getByRole('heading', { name: 'The run failed: one task on one host' }).waitFor();
    expect(await cause.locator('pre').textContent()).toBe(MESSAGE);
    const [above, below] = await Promise.all([
      cause.boundingBox(),
      page.getByRole('log').boundingBox(),
    ]);
    expect(above?.y).toBeLessThan(below?.y ?? 0);
    expect(await page.getByText('Done.', { exact: true }).count()).toBe(0);
    expect(await page.evaluate('window.scrollY')).toBe(0);
    await cause.getByRole('link', { name: 'Line 5' }).click();
    await page.waitForURL('**/?line=5#line-5');
    expect(await page.locator('#line-5').isVisible()).toBe(true);
    expect(await page.locator('.row:has(#line-5)').textContent()).toBe(
      `fatal: [web-1]: ${CANARY}\n`,
    );
  });

  it('shows the failure of a task once for all its hosts', async () => {
    if (javaScriptEnabled) return;
    const many = await run('failed', {});
    const hosts = Array.from({ length: 40 }, (_, index) => `node-${index}`);
    await events(
      many,
      hosts.map((host) => ['runner_on_failed', host, 'Start', `fatal: [${host}]`]),
    );
    await open.page.goto(`/api/v2/jobs/${many.id}/`);
    await open.page.getByRole('heading', { name: 'one task on 40 hosts' }).waitFor();
    expect(await open.page.locator('.failures li').count()).toBe(1);
    expect(await open.page.locator('.failures li').innerText()).toContain('and 20 more hosts');
  });

  it('groups the output by task', async () => {
    const { page } = open;
    const line = page.locator('#line-3');
    expect(await line.isVisible()).toBe(true);
    await page
      .locator('.fold', { hasText: 'TASK [Install]' })
      .locator('summary')
      .click({
        position: { x: 300, y: 6 },
      });
    expect(await line.isVisible()).toBe(false);
    expect(await page.locator('#line-5').isVisible()).toBe(true);
  });

  it('finds a text in the output and jumps to its line', async () => {
    const { page } = open;
    const search = page.getByLabel('Find in the output');
    await search.fill('FATAL');
    await search.press('Enter');
    await page.getByText('One line with “FATAL”').waitFor();
    const found = page.locator('.found li');
    expect(await found.locator('code').textContent()).toBe(`fatal: [web-1]: ${CANARY}`);
    await found.getByRole('link', { name: '5' }).click();
    await page.waitForURL('**/?line=5#line-5');
    await page.goto(`/api/v2/jobs/${failed.id}/?output=${encodeURIComponent(CANARY + 'x')}`);
    await page.getByText('was not found in the output').waitFor();
  });

  it('shows the differences from the last successful run', async () => {
    const { page } = open;
    const rows = page.locator('.changes tbody tr');
    const texts = await rows.evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent?.trim())),
    );
    expect(texts).toEqual([
      ['Revision', 'a'.repeat(40), 'b'.repeat(40)],
      ['Variable region', 'north', 'south'],
      ['Variable note', 'not set', CANARY],
      ['Task', 'not set', 'Start'],
    ]);
    await page.getByRole('link', { name: `#${good.id}`, exact: true }).click();
    await page.waitForURL(`**/jobs/${good.id}/`);
    expect(await page.locator('.cause').count()).toBe(0);
  });

  it('offers a relaunch on the failed hosts', async () => {
    const { page } = open;
    await page.getByRole('button', { name: 'Relaunch on failed hosts' }).waitFor();
    expect(javaScriptEnabled || (await page.locator('.js').count()) === 0).toBe(true);
  });

  it('explains why a run failed before its start, and why a run waits', async () => {
    const { page } = open;
    const explanation = 'The playbook site.yml is not in the project.';
    const broken = await run('error', { explanation });
    await page.goto(`/api/v2/jobs/${broken.id}/`);
    await page.locator('.cause').getByText(explanation).waitFor();
    await page.getByText('No output is stored.').waitFor();
    expect(await page.getByRole('log').count()).toBe(0);
    const waiting = await run('pending', { explanation: 'waiting for project_update-7 to finish' });
    await page.goto(`/api/v2/jobs/${waiting.id}/`);
    await page.locator('.message.warn').getByText('waiting for project_update-7').waitFor();
  });
});

inBrowser()('the page of a failed run in a browser', () => {
  // `main-pages.spec.ts` checks the page of a failure in both themes.
  it.each(IS_DEEP ? (['light', 'dark'] as const) : (['light'] as const))(
    'is accessible in the %s theme, also on a small screen',
    async (colorScheme) => {
      const open = await visit(test, test.as.users.superuser, { colorScheme });
      const { page } = open;
      await page.goto(`/api/v2/jobs/${failed.id}/?output=web`);
      expect(await seriousFaults(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 800 });
      expect(
        await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        ),
      ).toBe(0);
      await open.close();
      expect(open.faults).toEqual([]);
    },
  );
});
