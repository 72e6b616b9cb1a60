import type { Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunSignals } from '../../src/runs/run-signals.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { Samples } from '../support/samples.js';
import { inBrowser, visit, type Visit } from './browser.js';
import { htmlOf } from './html.js';

let test: TestApp;
let samples: Samples;
let open: Visit;

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

const HOSTILE = '<img src=x onerror=alert(1)>';

async function makeJob(status = 'running'): Promise<Row> {
  const template = (await samples.of('job_template')).id;
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      organization_id)
    VALUES ('job', 'Deploy the shop', ${status}, ${template}, ${template},
      ${test.home.organization.id})
    RETURNING *`))!;
}

/** Stores a line of output and announces it, as a worker does. */
async function print(job: Row, counter: number, text: string): Promise<void> {
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, stdout, start_line, end_line)
    VALUES (${job.id}, ${counter}, 'runner_on_ok', '{}', ${text}, ${counter - 1}, ${counter})`);
  test.app.get(RunSignals, { strict: false }).announce([[job.id, { counter }]]);
}

const move = (job: Row, from: JobStatus, to: JobStatus): Promise<unknown> =>
  test.app.get(RunTransitions, { strict: false }).move([job.id], { from: [from], to });

async function summarize(job: Row): Promise<void> {
  await test.database.execute(sql`
    INSERT INTO job_host_summaries (job_id, host_name, ok, changed, failures, dark, skipped, failed)
    VALUES (${job.id}, 'web-1', 5, 2, 0, 0, 1, false), (${job.id}, 'web-2', 3, 0, 1, 0, 0, true),
      (${job.id}, 'web-3', 0, 0, 0, 1, 0, true)`);
}

/** Returns the shown lines of the output. */
const outputOf = async (page: Page): Promise<string> =>
  (await page.getByRole('log').locator('.row').allTextContents()).join('');

inBrowser()('pages of runs', () => {
  beforeEach(async () => {
    open = await visit(test, test.as.users.superuser);
  });
  afterEach(async () => {
    expect(open.faults).toEqual([]);
    await open.close();
  });

  it('compute the layout once for many lines that arrive together', async () => {
    const { page } = open;
    const job = await makeJob();
    await page.goto(`/api/v2/jobs/${job.id}/`);
    await print(job, 1, 'begins');
    await page.locator('#line-1').waitFor();
    const inside = await page.context().newCDPSession(page);
    await inside.send('Performance.enable');
    const layouts = async (): Promise<number> => {
      const { metrics } = await inside.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'LayoutCount')!.value;
    };
    const before = await layouts();
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, event_data, stdout, start_line, end_line)
      SELECT ${job.id}, n, 'runner_on_ok', '{}', 'line', n - 1, n FROM generate_series(2, 2999) n`);
    await print(job, 3_000, 'ends');
    await page.locator('#line-3000').waitFor();
    expect(await layouts()).toBeLessThan(before + 300);

    const heightOf = (line: number): Promise<number> =>
      page.evaluate(`document.querySelector('#line-${line}').offsetHeight`);
    const usual = page.viewportSize()!;
    for (const width of [usual.width, 390]) {
      await page.setViewportSize({ ...usual, width });
      const height = await heightOf(2);
      expect(await heightOf(3000)).toBe(height);
      const place = "document.querySelector('#line-3000').dataset";
      await page.evaluate(`Object.assign(${place}, { line: '1234567', time: '23:59:59' })`);
      expect(await heightOf(3000)).toBe(height);
    }
    await page.setViewportSize(usual);
  });

  it('show a launched job while its output arrives, until it ends', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.waitForURL(/\/jobs\/\d+\/$/);
    const job = { id: Number(/(\d+)\/$/.exec(page.url())![1]) };
    await page.getByText('The run is pending.').waitFor();
    await page.getByText('Launched.', { exact: true }).waitFor();

    await move(job, 'pending', 'running');
    await page.getByText('The run is running.').waitFor();
    const state = page.locator('#object-state');
    const remove = page.getByRole('link', { name: 'Delete', exact: true });
    expect(await remove.count()).toBe(0);
    await eventually(async () => expect(await state.innerText()).toBe('Running'));
    const facts = page.locator('#run-facts');
    expect(await facts.innerText()).toMatch(
      new RegExp(`Run\\s+#${job.id}\\s+Launched\\s+Manual by superuser`),
    );
    await print(job, 1, 'PLAY [all] ****');
    await page.getByRole('log').getByText('PLAY [all]').waitFor();
    await print(job, 2, `\u001B[0;32mok: [web-1] ${HOSTILE}\u001B[0m`);
    await page.locator('.ansi-green', { hasText: HOSTILE }).waitFor();
    await print(job, 3, '\u001B[38;5;208morange');
    await page.locator('.ansi-208').waitFor();
    const color = "getComputedStyle(document.querySelector('.ansi-208')).color";
    expect(await page.evaluate(color)).toBe('rgb(255, 135, 0)');

    await summarize(job);
    await move(job, 'running', 'failed');
    await page.getByText('The run ended: failed.').waitFor();
    await remove.waitFor();
    expect(await page.getByText('Launched.', { exact: true }).count()).toBe(0);
    await page.getByRole('row', { name: /^web-2 3 0 1 0 0/ }).waitFor();
    await page.getByRole('button', { name: 'Relaunch', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await eventually(async () => expect(await state.innerText()).toBe('Failed'));
    expect(await page.locator('dl.fields .badge').first().textContent()).toBe('Failed');
    expect(await outputOf(page)).toBe(`PLAY [all] ****\nok: [web-1] ${HOSTILE}\norange\n`);
  });

  it('show the recent results on the page of a template', async () => {
    const { page } = open;
    const job = await makeJob('failed');
    const template = job.job_template_id;
    await page.goto(`/api/v2/job_templates/${template}/`);
    const last = page.getByRole('region', { name: 'Last runs' });
    await last.getByRole('row', { name: new RegExp(`^#${job.id} Failed`) }).waitFor();
    await last.getByRole('link', { name: 'All runs' }).click();
    await page.getByRole('heading', { level: 1, name: 'All jobs' }).waitFor();
    await page.locator(`tbody a[href="/api/v2/jobs/${job.id}/"]`).waitFor();
    const never = await test.make.jobTemplate();
    await page.goto(`/api/v2/job_templates/${never.id}/`);
    await page.getByText('No runs yet.').waitFor();
  });

  it('show the tasks of a run with their results, and expand failed ones', async () => {
    const { page } = open;
    const job = await makeJob('failed');
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, event_data, play, task, host_name, changed)
      VALUES (${job.id}, 1, 'runner_on_ok', '{}', 'Put online', ${HOSTILE}, 'web-1', true),
        (${job.id}, 2, 'runner_on_ok', '{}', 'Put online', ${HOSTILE}, 'web-2', false),
        (${job.id}, 3, 'runner_on_failed', '{}', 'Put online', 'Start', 'web-1', false)`);
    await page.goto(`/api/v2/jobs/${job.id}/`);
    const tasks = page.getByRole('region', { name: 'Tasks' });
    await tasks.getByRole('heading', { name: 'Put online' }).waitFor();
    const [first, second] = [tasks.locator('details').first(), tasks.locator('details').last()];
    expect(await first.locator('summary').innerText()).toBe(`${HOSTILE} 1 OK 1 changed`);
    expect(await first.getByRole('link', { name: 'web-2' }).isVisible()).toBe(false);
    await second.getByRole('link', { name: 'web-1' }).click();
    await page.waitForURL(/\/job_events\/\d+\/$/);
  });

  it('continue without gaps or repetition after a lost connection', async () => {
    const { page } = open;
    const job = await makeJob();
    await print(job, 1, 'one');
    await page.goto(`/api/v2/jobs/${job.id}/`);
    await print(job, 2, 'two');
    await page.getByRole('log').getByText('two').waitFor();
    await page.context().setOffline(true);
    await print(job, 3, 'three');
    await page.context().setOffline(false);
    await print(job, 4, 'four');
    await page.getByRole('log').getByText('four').waitFor();
    expect(await outputOf(page)).toBe('one\ntwo\nthree\nfour\n');
  });

  it('cancel a run with a button', async () => {
    const { page } = open;
    const job = await makeJob('pending');
    await page.goto(`/api/v2/jobs/${job.id}/`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The run ended: canceled.').waitFor();
  });

  it('show the prompts of the template before the launch', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ ask_limit_on_launch: true });
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('link', { name: 'Launch…' }).click();
    await page.getByLabel('Limit').fill('web-1');
    await page.getByRole('button', { name: /Launch/ }).click();
    await page.waitForURL(/\/jobs\/\d+\/$/);
  });

  it('show everything except live output without scripts', async () => {
    const job = await makeJob();
    await print(job, 1, `\u001B[0;32mok ${HOSTILE}\u001B[0m`);
    const plain = await visit(test, test.as.users.superuser, { javaScriptEnabled: false });
    await plain.page.goto(`/api/v2/jobs/${job.id}/`);
    expect(await outputOf(plain.page)).toBe(`ok ${HOSTILE}\n`);
    await plain.page.getByText('Reload this page').waitFor();
    await plain.page.getByRole('button', { name: 'Cancel' }).click();
    await plain.page.getByText('Cancellation requested.').waitFor();
    await plain.close();
  });
});

it('a page of a run offers no buttons to users who may only read it', async () => {
  const job = await makeJob();
  const path = `jobs/${job.id}/`;
  const [cancel, relaunch] = [/<button[^>]*>\s*Cancel/, /<button[^>]*>\s*Relaunch/];
  expect(await htmlOf(test.as.superuser, path)).toMatch(cancel);
  const active = await htmlOf(test.as.auditor, path);
  expect(active).toContain('The run is running.');
  expect(active).not.toMatch(cancel);
  await move(job, 'running', 'failed');
  expect(await htmlOf(test.as.superuser, path)).toMatch(relaunch);
  const over = await htmlOf(test.as.auditor, path);
  expect(over).toContain('<h1');
  expect(over).not.toMatch(relaunch);
});
