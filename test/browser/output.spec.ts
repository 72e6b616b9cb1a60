/** The tools of a run's output work in Chromium. They exist only with scripts. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunSignals } from '../../src/runs/run-signals.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { inBrowser, visit, type Visit } from './browser.js';

/** Limit on the time from the end of a run to the complete page, in milliseconds. */
const END_LIMIT = 2000;
/** Number of lines printed right before the end. */
const LAST = 500;
/**
 * Number of lines, and limit on the longest task in milliseconds. Other files of `npm test` slow this one
 * down.
 */
const [LINES, LONGEST] = IS_DEEP ? [20_000, 100] : [4000, 250];

let test: TestApp;
let open: Visit;

const jobOf = async (status: string): Promise<Row> => {
  const template = await test.make.jobTemplate();
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
    SELECT 'job', name, ${status}, id, id FROM unified_job_templates WHERE id = ${template.id}
    RETURNING *`))!;
};
const event = async (job: Row, counter: number, kind: string, host: string): Promise<void> => {
  const isFailure = kind === 'runner_on_failed';
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, host_name, task, failed, stdout, start_line,
      end_line, event_data)
    VALUES (${job.id}, ${counter}, ${kind}, ${host}, 'Install', ${isFailure},
      ${host === '' ? 'TASK [Install]' : `${kind} ${host}`}, ${counter - 1}, ${counter},
      '{"res": {"msg": "no space left"}}')`);
};

inBrowser()('the output of a run', () => {
  beforeAll(async () => {
    test = await boot();
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    open = await visit(test, test.as.users.superuser);
  });
  afterEach(async () => {
    expect(open.faults).toEqual([]);
    await open.close();
  });

  it('can be filtered by host and state, links to failures, and shows events', async () => {
    const { page } = open;
    const job = await jobOf('failed');
    await event(job, 1, 'playbook_on_task_start', '');
    await event(job, 2, 'runner_on_ok', 'web-1');
    await event(job, 3, 'runner_on_failed', 'web-2');
    await event(job, 4, 'runner_on_failed', 'web-3');
    await page.goto(`/api/v2/jobs/${job.id}/`);
    const shown = (): Promise<string[]> => page.locator('.stdout .row:visible').allInnerTexts();
    const [heading, ok, failed] = [
      'TASK [Install]',
      'runner_on_ok web-1',
      'runner_on_failed web-2',
    ];
    await page.getByLabel('All hosts').selectOption('web-2');
    expect((await shown()).map((text) => text.trim())).toEqual([heading, failed]);
    await page.getByLabel('All hosts').selectOption('');
    await page.getByLabel('All states').selectOption('ok');
    expect((await shown()).map((text) => text.trim())).toEqual([heading, ok]);
    await page.getByLabel('All states').selectOption('');

    for (const line of [3, 4, 3]) {
      await page.getByRole('button', { name: 'Next failure' }).click();
      expect(await page.locator('.row.current .ln').getAttribute('id')).toBe(`line-${line}`);
    }
    await page.locator('.row', { hasText: failed }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toMatch(/Install on web-2[^]*no space left/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Wrap' }).click();
    expect(await page.locator('.stdout.unwrapped').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Follow' }).count()).toBe(0);
  });

  it('shows the current task and the number of hosts that completed it', async () => {
    const { page } = open;
    const job = await jobOf('running');
    await test.database.execute(sql`
      UPDATE unified_jobs SET started = now() - interval '65 seconds' WHERE id = ${job.id}`);
    await event(job, 1, 'playbook_on_task_start', '');
    await page.goto(`/api/v2/jobs/${job.id}/`);
    const progress = page.locator('#run-progress');
    expect(await progress.innerText()).toBe('Task: Install, 0 hosts done');
    await event(job, 2, 'runner_on_ok', 'web-1');
    test.app.get(RunSignals, { strict: false }).announce([[job.id, { counter: 2 }]]);
    await eventually(async () =>
      expect(await progress.innerText()).toBe('Task: Install, 1 host done'),
    );
    const clock = page.locator('[data-since]');
    await eventually(async () => expect(await clock.innerText()).toMatch(/^1 min \d+ s$/));
    const before = await clock.innerText();
    await eventually(async () => expect(await clock.innerText()).not.toBe(before));
  });

  it('renders many lines without blocking the page, and keeps the scroll position', async () => {
    const { page } = open;
    const job = await jobOf('running');
    await page.addInitScript(`
      window.longest = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
      }).observe({ type: 'longtask' });`);
    await page.goto(`/api/v2/jobs/${job.id}/`);
    await page.getByRole('button', { name: 'Follow', pressed: true }).click();
    await page.evaluate('window.longest = 0');
    const print = async (first: number, last: number): Promise<void> => {
      await test.database.execute(sql`
        INSERT INTO job_events (job_id, counter, event, host_name, event_data, stdout, start_line, end_line)
        SELECT ${job.id}, n, 'runner_on_ok', 'web-' || n % 50, '{}', 'ok: line', n - 1, n
        FROM generate_series(${first}::int, ${last}::int) n`);
      test.app.get(RunSignals, { strict: false }).announce([[job.id, { counter: last }]]);
    };
    await print(1, LINES - LAST);
    await page.locator(`#line-${LINES - LAST}`).waitFor({ state: 'attached' });

    await print(LINES - LAST + 1, LINES);
    const ended = Date.now();
    const transitions = test.app.get(RunTransitions, { strict: false });
    await transitions.move([job.id], { from: ['running'], to: 'successful' });
    await page.locator(`#line-${LINES}`).waitFor({ state: 'attached' });
    await page.getByText('The run ended: successful.').waitFor();
    await page.locator('#object-state', { hasText: 'Successful' }).waitFor();
    expect(Date.now() - ended).toBeLessThan(END_LIMIT);
    expect(await page.locator('#run-progress').textContent()).toBe('');
    expect(await page.evaluate('window.longest')).toBeLessThan(LONGEST);
    expect(await page.evaluate("document.querySelector('.stdout').scrollTop")).toBe(0);
    expect(await page.getByLabel('All hosts').locator('option').count()).toBe(51);
  });
});
