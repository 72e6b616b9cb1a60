/** Graphs of workflows with approvals; `journey-workflows.spec.ts` approves in the graph. */
import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { comes as comesOn, describePages } from './browser.js';
import { browserForm } from './posting.js';

const APPROVE = /<button[^>]*>\s*Approve/;
const APPROVE_FORM = /<form\b[^>]*\saction="([^"]*\/approve\/)".*?<\/form>/s;

let test: TestApp;
let worker: INestApplicationContext;

beforeAll(async () => {
  test = await boot();
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker.close();
  await test.close();
});

/** A workflow with an approval, and another approval if the first is denied. */
async function makeWorkflow(name: string): Promise<Row> {
  const { make, home, as } = test;
  const workflow = await make.row('workflow_job_template', {
    name,
    organization: home.organization.id,
  });
  const ids: number[] = [];
  for (const question of ['Roll it out?', 'Put it back?']) {
    const path = `workflow_job_templates/${workflow.id}/workflow_nodes/`;
    const node = (await as.superuser.post(path, { identifier: question }).expect(201)).body as Row;
    ids.push(node.id);
    await as.superuser
      .post(`workflow_job_template_nodes/${node.id}/create_approval_template/`, { name: question })
      .expect(201);
  }
  const failure = `workflow_job_template_nodes/${ids[0]}/failure_nodes/`;
  await as.superuser.post(failure, { id: ids[1] }).expect(204);
  return workflow;
}

const session = () => ({ test, user: test.as.users.superuser });

describePages('workflows', session, (open, javaScriptEnabled) => {
  const comes = (selector: string): Promise<void> =>
    comesOn(test, open.page, selector, javaScriptEnabled);

  async function launch(name: string): Promise<void> {
    const { page } = open;
    const workflow = await makeWorkflow(`${name} ${javaScriptEnabled}`);
    await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
    // The graph of a template has nodes and links, and no statuses.
    const graph = page.getByRole('region', { name: 'Graph of the workflow' });
    await graph.getByRole('link', { name: 'Roll it out?, Approval' }).waitFor();
    expect(await graph.getByText('on failure').count()).toBe(1);
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.waitForURL(/\/workflow_jobs\/\d+\/$/);
    await comes('.node-actions button');
  }

  it('deny a step on its own page, which the dashboard links', async () => {
    const { page } = open;
    await launch('Denied');
    await page.goto('/');
    const waiting = page.getByRole('region', { name: 'Waiting for your approval' });
    await waiting.getByRole('link', { name: 'Roll it out?' }).first().click();
    await page.getByText('The workflow waits. You can decide.').waitFor();
    await page.locator('.decision').getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied, or the approval timed out.').waitFor();
    await page.getByRole('link', { name: 'Show the workflow' }).click();
    // The failure path leads to the next approval.
    await comes('a[aria-label="Roll it out?, Approval, failed"]');
    await comes('a[aria-label="Put it back?, Approval, pending"]');
    await page.locator('#run-actions').getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(/\/workflow_jobs\/\d+\/$/);
    await comes('[data-live-status]:has-text("The run ended: canceled.")');
  });
});

describe('workflows for users who may not approve', () => {
  it('show pending and skipped steps without buttons', async () => {
    const workflow = await makeWorkflow('Watched');
    const path = `workflow_job_templates/${workflow.id}/launch/`;
    const { body } = await test.as.superuser.post(path, {}).expect(201);
    const shown = async (caller: ApiClient): Promise<string> =>
      (await caller.get(`workflow_jobs/${body.workflow_job}/`).set('Accept', 'text/html')).text;
    const waiting = 'aria-label="Roll it out?, Approval, pending"';
    await eventually(async () => expect(await shown(test.as.superuser)).toContain(waiting), 30_000);
    expect(await shown(test.as.superuser)).toMatch(APPROVE);
    expect(await shown(test.as.auditor)).toContain(waiting);
    expect(await shown(test.as.auditor)).not.toMatch(APPROVE);

    // The decision leads back to the graph.
    const graph = `/api/v2/workflow_jobs/${body.workflow_job}/`;
    const [form = '', action = ''] = APPROVE_FORM.exec(await shown(test.as.superuser)) ?? [];
    const [, back = ''] = /name="_return" value="([^"]*)"/.exec(form) ?? [];
    const send = await browserForm(test, test.as.users.superuser);
    const { headers } = await send(action, { _return: back });
    expect(headers.location).toBe(graph);
    const skipped = 'aria-label="Put it back?, Approval, skipped"';
    await eventually(async () => expect(await shown(test.as.auditor)).toContain(skipped), 30_000);
  });
});
