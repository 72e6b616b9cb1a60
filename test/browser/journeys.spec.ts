/**
 * Users do their work with clicks and keys only, with scripts and without. The test itself does only the part
 * of a worker.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunSignals } from '../../src/runs/run-signals.service.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePagesBothWays, inBrowser, openApi, pick, visit } from './browser.js';

const PASSWORD = 'a good password';

let test: TestApp;
let user: Row;

beforeAll(async () => {
  test = await boot();
  user = await test.make.user({ username: 'boss', password: PASSWORD, is_superuser: true });
});
afterAll(() => test.close());

const session = () => ({ test, user });

/** Writes a line of output and ends the run as a worker does. */
async function work(jobId: number, text: string): Promise<void> {
  const { app, database } = test;
  const transitions = app.get(RunTransitions, { strict: false });
  await transitions.move([jobId], { from: ['pending'], to: 'running' });
  await database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, stdout, start_line, end_line)
    VALUES (${jobId}, 1, 'verbose', '{}', ${text}, 0, 1)`);
  app.get(RunSignals, { strict: false }).announce([[jobId, { counter: 1 }]]);
  await transitions.move([jobId], { from: ['running'], to: 'successful' });
}

inBrowser().each([
  ['with scripts', true],
  ['without scripts', false],
])('a user %s', (_name, javaScriptEnabled) => {
  it('logs in', async () => {
    const { page, faults, close } = await visit(test, null, { javaScriptEnabled });
    await page.goto('/');
    await page.getByLabel('Username').fill('boss');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});

describePagesBothWays('a user', session, (open, javaScriptEnabled) => {
  const choose = (selector: string, label: string): Promise<void> =>
    pick(open.page.locator(selector), label, javaScriptEnabled);
  const idOf = (): number => Number(/\/(\d+)\/$/.exec(new URL(open.page.url()).pathname)?.[1]);

  it('creates a team, adds a member and grants it a role', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    const member = `member-${javaScriptEnabled}`;
    await test.make.user({ username: member });
    await page.goto('/api/v2/teams/?_form=post');
    await page.locator('#post-name').fill(`Journey ${javaScriptEnabled}`);
    await choose('#post-organization', 'Home');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByText('Created.', { exact: true }).waitFor();
    const team = idOf();

    const main = page.getByRole('main');
    await main.getByRole('link', { name: 'Users', exact: true }).first().click();
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    await choose('#attach-id', member);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added to the list.').waitFor();
    await page.getByRole('rowheader', { name: member }).waitFor();

    await page.goto(`/api/v2/job_templates/${template.id}/object_roles/`);
    await page.getByRole('link', { name: 'Execute' }).click();
    await main.getByRole('link', { name: 'Teams', exact: true }).first().click();
    await page.getByRole('link', { name: 'Add', exact: true }).click();
    await choose('#attach-id', `Journey ${javaScriptEnabled}`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Added to the list.').waitFor();

    const found = await test.database.row<Row>(sql`
      SELECT users.id FROM users JOIN role_members mem ON mem.user_id = users.id
      JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
      WHERE users.username = ${member} AND anc.content_type = 'job_template'
        AND anc.object_id = ${template.id} AND anc.role_field = 'execute_role'`);
    expect(found).toBeDefined();
    expect(team).toBeGreaterThan(0);
  });

  it('launches a job and watches its output arrive', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate();
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.getByText('The run is pending.').waitFor();
    await work(idOf(), 'The shop is online.');
    // Without scripts the page asks the user to reload it.
    if (!javaScriptEnabled) await page.reload();
    await page.getByRole('log').getByText('The shop is online.').waitFor();
    await page.getByText('The run ended: successful.').waitFor();
  });

  it('rotates the key of a webhook and reads the new one', async () => {
    const { page } = open;
    const template = await test.make.jobTemplate({ webhook_service: 'service_a' });
    await page.goto(`/api/v2/job_templates/${template.id}/`);
    await openApi(page);
    await page.getByRole('link', { name: 'Webhook key' }).click();
    const shown = async (): Promise<string> =>
      (await page.locator('.json').first().innerText()) ?? '';
    const before = await shown();
    expect(before).toMatch(/"webhook_key": "\w{20,}"/);
    await page
      .getByRole('link', { name: /webhook key/i })
      .last()
      .click();
    await page
      .locator('#form-post')
      .getByRole('button', { name: /webhook key/i })
      .click();
    await page.getByText('Done.', { exact: true }).waitFor();
    const after = await shown();
    expect(after).toMatch(/"webhook_key": "\w{20,}"/);
    expect(after).not.toBe(before);
  });

  it('finds a row in a long list', async () => {
    const { page } = open;
    const inventory = await test.make.inventory();
    await test.make.hosts(inventory, 60, `journey-${javaScriptEnabled}`);
    await page.goto(`/api/v2/inventories/${inventory.id}/hosts/`);
    await page.getByText('Page 1 of 3').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    await page.getByLabel('Search').fill('0000042');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1 host', { exact: true }).waitFor();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([
      `journey-${javaScriptEnabled}-0000042`,
    ]);
  });
});

inBrowser()('a user with a keyboard only', () => {
  it('creates a team without the mouse', async () => {
    const { page, faults, close } = await visit(test, test.as.users.superuser);
    await page.goto('/api/v2/teams/');
    await page.getByRole('link', { name: 'Add', exact: true }).focus();
    await page.keyboard.press('Enter');
    // The link opens the form and focuses its first field.
    await page.waitForFunction("document.activeElement.id === 'post-name'");
    await page.keyboard.type('Typed by hand');
    const organization = page.locator('#post-organization');
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id');
    for (let presses = 0; presses < 5 && (await focused()) !== 'post-organization'; presses += 1) {
      await page.keyboard.press('Tab');
    }
    expect(await focused()).toBe('post-organization');
    await page.keyboard.type('Home');
    await page.getByRole('option', { name: 'Home' }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await organization.inputValue()).toBe('Home');
    await page.keyboard.press('Enter');
    await page.getByText('Created.', { exact: true }).waitFor();
    expect(await page.locator('h1').textContent()).toBe('Typed by hand');
    expect(faults).toEqual([]);
    await close();
  });
});
