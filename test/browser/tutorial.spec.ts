/**
 * Follows docs/tutorial.md step by step: chooses the bold words, enters the italic words, and expects the
 * described pages.
 *
 * Budget: 40 s, because two jobs run with Ansible and Chromium walks a dozen pages.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { INestApplicationContext } from '@nestjs/common';
import type { Locator, Page } from 'playwright-core';

import { demoData } from '../../src/cli/demo-data.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sql } from '../../src/database/sql.js';
import { boot, bootWorker, withSettingsOf, type TestApp } from '../support/boot.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { eventually } from '../support/eventually.js';
import { inBrowser, visit } from './browser.js';

const execute = promisify(execFile);
const PASSWORD = 'a good password';
/** A job runs with Ansible. */
const RUN_MS = 60_000;

const WORD = new RegExp(
  [
    'In the row “(?<row>[^”]+)”',
    '\\*\\*(?<choice>[^*]+)\\*\\*',
    '\\*(?<field>[^*]+)\\*: `(?<value>[^`]*)`',
    'page shows “(?<shown>[^”]+)”',
    '```sh\\n(?<commands>.*?)```',
  ].join('|'),
  'gs',
);

type Step = Partial<Record<'row' | 'choice' | 'field' | 'value' | 'shown' | 'commands', string>>;

let test: TestApp;
let worker: INestApplicationContext;
let chat: HttpSink;

beforeAll(async () => {
  test = await boot();
  // A new installation has one organization, which forms choose by themselves.
  await test.database.execute(sql`DELETE FROM organizations`);
  await withSettingsOf(test, {}, () => demoData());
  await test.make.user({ username: 'admin', password: PASSWORD, is_superuser: true });
  worker = await bootWorker(test);
  chat = await HttpSink.start();
});
afterAll(async () => {
  await worker.close();
  await chat.close();
  await test.close();
});

/** Returns the steps of the tutorial behind the start of the server. */
function steps(): Step[] {
  const text = readFileSync(join(PACKAGE_FOLDER, 'docs', 'tutorial.md'), 'utf8');
  const [, body = ''] = text.split('```sh\nnpm start\n```\n');
  return [...body.matchAll(WORD)].map(({ groups = {} }) => groups);
}

const firstVisible = (found: Locator): Locator => found.filter({ visible: true }).first();

/** Chooses a link or a button: of the page itself if it has one, or else of the sidebar. */
async function choose(scope: Page | Locator, name: string): Promise<void> {
  const named = { name, exact: true };
  const within = (part: Page | Locator): Locator =>
    part.getByRole('link', named).or(part.getByRole('button', named));
  const own = firstVisible(within(scope.locator('main')));
  await ((await own.count()) > 0 ? own : firstVisible(within(scope))).click();
}

/** Sends the push of the tutorial with what the page of the webhook shows. */
async function push(page: Page, commands: string): Promise<void> {
  const shown = (name: string) => page.getByRole('region', { name }).innerText();
  const url = await shown('Address (payload URL)');
  const filled = commands
    .replace('the payload URL', url)
    .replace('the secret', await shown('Secret'));
  expect(filled).toContain(url);
  await execute('bash', ['-euo', 'pipefail', '-c', filled]);
}

inBrowser()('the tutorial', () => {
  it(
    'creates a job that a push launches, and a message in a chat',
    async () => {
      const { page, faults, close } = await visit(test, null);
      await page.goto('/');
      let scope: Page | Locator = page;
      for (const step of steps()) {
        if (step.row) scope = page.getByRole('row', { name: step.row });
        if (step.choice) {
          await choose(scope, step.choice);
          scope = page;
        }
        if (step.field && step.value) {
          const value = step.value
            .replace('the password that the start printed', PASSWORD)
            .replace('http://127.0.0.1:9099', chat.url);
          await page.getByLabel(step.field).first().fill(value);
        }
        if (step.shown) {
          await firstVisible(page.getByText(step.shown, { exact: true })).waitFor({
            timeout: RUN_MS,
          });
        }
        if (step.commands?.startsWith('PAYLOAD_URL')) await push(page, step.commands);
      }
      const { body } = await test.as.superuser.get('jobs/?order_by=id').expect(200);
      expect(body.results.map((job: Record<string, unknown>) => job.launch_type)).toEqual([
        'manual',
        'webhook',
      ]);
      await eventually(() => expect(chat.requests).toHaveLength(2));
      expect(chat.requests[1]?.body).toContain('Deploy the shop');
      expect(faults).toEqual([]);
      await close();
    },
    3 * RUN_MS,
  );
});
