/**
 * Budget: 25 s, because three ways of a journey wait for a workflow of three steps.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ProjectFolders } from '../../src/projects/project-folders.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { comes as comesOn, inBrowser, visit } from './browser.js';
import { describeJourney, describeJourneyInAllWays, type Walk } from './walk.js';

const PLAYBOOK = `- hosts: localhost
  gather_facts: false
  tasks:
    - debug: {msg: "done"}
`;

let test: TestApp;
let worker: INestApplicationContext;
/** Its playbook runs anywhere. */
let project: Row;

beforeAll(async () => {
  test = await boot();
  project = await test.make.project();
  const folder = test.app.get(ProjectFolders, { strict: false }).path(String(project.local_path));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'site.yml'), PLAYBOOK);
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker.close();
  await test.close();
});

const session = () => ({ test, user: test.as.users.superuser });

const comes = ({ page, hasScripts }: Walk, selector: string): Promise<void> =>
  comesOn(test, page, selector, hasScripts);

describeJourney('a workflow of three steps, launched and approved', session, 15, async (walk) => {
  const { page, mark } = walk;
  const [first, last] = [`Test ${mark}`, `Roll out ${mark}`];
  await test.make.jobTemplate({ name: first, project: project.id });
  await test.make.jobTemplate({ name: last, project: project.id });
  await walk.open('Templates');
  await walk.link('New workflow');
  await page.locator('#post-name').fill(`Release ${mark}`);
  await walk.button('Create workflow job template');
  await walk.choose(page.locator('#step-template'), first);
  await walk.button('Add', page.locator('#build'));
  const approvals = page.locator('#build form', { hasText: 'Ask for an approval' });
  await walk.button('Add on success', approvals);
  await page.getByLabel('Approval text').fill('Go live?');
  await walk.button('Ask for approval');
  await page.getByRole('heading', { name: 'Next step after Go live?' }).waitFor();
  await walk.choose(page.locator('#step-template'), last);
  await walk.button('Add on success', page.locator('#build form', { hasText: 'at the start' }));
  await page.locator('#build').getByText('on success after Go live?').waitFor();
  await walk.look('workflow-built');
  await walk.button('Launch');
  await page.waitForURL(/\/workflow_jobs\/\d+\/$/);
  await comes(walk, `a[aria-label="${first}, Job, successful"]`);
  await comes(walk, '.node-actions button');
  await walk.look('workflow-waits');
  await walk.button('Approve');
  await page.getByText('Approved.', { exact: true }).waitFor();
  await comes(walk, '[data-live-status]:has-text("The run ended: successful.")');
  await comes(walk, `a[aria-label="${last}, Job, successful"]`);
});

describeJourney('unlinking a step and removing it', session, 2, async (walk) => {
  const { page, mark } = walk;
  const [first, last] = [`Build ${mark}`, `Publish ${mark}`];
  const workflow = await test.make.workflowTemplate();
  const ids: number[] = [];
  for (const name of [first, last]) {
    const { id } = await test.make.jobTemplate({ name, project: project.id });
    ids.push((await test.make.workflowNode(workflow, { unified_job_template: id })).id);
  }
  const edges = `workflow_job_template_nodes/${ids[0]}/success_nodes/`;
  await test.as.superuser.post(edges, { id: ids[1] }).expect(204);
  await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
  const build = page.locator('#build');
  await walk.button(/^Remove link/, build);
  await build.getByText('Starts immediately.').waitFor();
  await walk.button(`Remove ${last}`, build);
  await page.getByText('Deleted.').waitFor();
  const graph = page.getByRole('region', { name: 'Graph of the workflow' });
  expect(await graph.getByRole('link').count()).toBe(1);
});

describeJourney('linking two steps by their names in the graph', session, 3, async (walk) => {
  const { page, mark } = walk;
  const [first, last] = [`Compile ${mark}`, `Deliver ${mark}`];
  const workflow = await test.make.workflowTemplate();
  for (const name of [first, last]) {
    const { id } = await test.make.jobTemplate({ name, project: project.id });
    await test.make.workflowNode(workflow, { unified_job_template: id });
  }
  await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
  const graph = page.getByRole('region', { name: 'Graph of the workflow' });
  await walk.link(`${first}, Job`, graph);
  await walk.link('Connect on failure…');
  // The start of the link is not offered as its end.
  await graph.getByRole('button', { name: 'Connect' }).waitFor();
  await walk.look('workflow-connect');
  await walk.button(`Connect to ${last}`, graph);
  await page.getByText('Added to the list.').waitFor();
  expect(await graph.getByText('on failure').count()).toBe(1);
});

describeJourney('changing a step below the graph', session, 8, async (walk) => {
  const { page, mark } = walk;
  const workflow = await test.make.workflowTemplate();
  const name = `Limited ${mark}`;
  const { id } = await test.make.jobTemplate({
    name,
    project: project.id,
    ask_limit_on_launch: true,
  });
  await test.make.workflowNode(workflow, { unified_job_template: id });
  const question = await test.make.workflowNode(workflow, { identifier: 'Ask' });
  const approval = `workflow_job_template_nodes/${question.id}/create_approval_template/`;
  await test.as.superuser.post(approval, { name: 'Publish?' }).expect(201);
  await test.make.workflowNode(workflow, { identifier: 'Last' });
  await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
  const graph = page.getByRole('region', { name: 'Graph of the workflow' });
  await walk.link(`${name}, Job`, graph);
  const form = page.locator('#form-step');
  // The form has the prompts of the template, and no other launch fields.
  expect(await form.getByLabel('Forks').count()).toBe(0);
  await form.getByLabel('Limit').fill('web');
  await form.getByLabel('Alias').fill('Web only');
  await walk.click(form.getByLabel('Wait for all parents'));
  await walk.look('workflow-step');
  await walk.button('Save', form);
  await page.getByText('Saved.').waitFor();
  await graph.getByRole('link', { name: 'Web only, Job' }).waitFor();
  expect(await form.getByLabel('Limit').inputValue()).toBe('web');
  // Without an alias the graph has the name of the template again.
  await form.getByLabel('Alias').fill('');
  await walk.button('Save', form);
  await graph.getByRole('link', { name: `${name}, Job` }).waitFor();
  const width = (): Promise<number> =>
    graph.locator('svg').evaluate((svg) => svg.getBoundingClientRect().width);
  const before = await width();
  if (walk.hasScripts) {
    await walk.button('Zoom in');
    expect(await width()).toBeGreaterThan(before);
  }
  await walk.link('Last, No template', graph);
  // A zoomed graph stays zoomed where the caller selects another step.
  if (walk.hasScripts) expect(await width()).toBeGreaterThan(before);

  await walk.link('Ask, Approval', graph);
  const decision = page.locator('#form-approval');
  await decision.getByLabel('Name').fill('Publish to customers?');
  await decision.getByLabel('Timeout').fill('600');
  await walk.button('Save', decision);
  await page.getByText('Saved.').waitFor();
  expect(await decision.getByLabel('Timeout').inputValue()).toBe('600');
  const { body } = await test.as.superuser.get(
    `workflow_job_template_nodes/?workflow_job_template=${workflow.id}&identifier=Ask`,
  );
  expect(body.results[0].summary_fields.unified_job_template).toMatchObject({
    name: 'Publish to customers?',
    timeout: 600,
  });
});

// Represents the pages of graphs; its run needs no Ansible.
describeJourneyInAllWays('approving a waiting step', session, 2, async (walk) => {
  const { page, mark } = walk;
  const workflow = await test.make.workflowTemplate({ name: `Gate ${mark}` });
  const node = await test.make.workflowNode(workflow, {});
  const question = `Open the gate ${mark}?`;
  await test.as.superuser
    .post(`workflow_job_template_nodes/${node.id}/create_approval_template/`, { name: question })
    .expect(201);
  const { body } = await test.as.superuser
    .post(`workflow_job_templates/${workflow.id}/launch/`, {})
    .expect(201);
  await eventually(async () => {
    const asked = await test.as.superuser.get('workflow_approvals/?status=pending').expect(200);
    expect(asked.body.results.map((one: Row) => one.name)).toContain(question);
  }, 30_000);
  await page.goto('/');
  await walk.link(question, page.getByRole('region', { name: 'Waiting for your approval' }));
  await page.getByText('The workflow waits. You can decide.').waitFor();
  await walk.look('approval');
  await walk.button('Approve', page.locator('.decision'));
  await page.getByText('Approved: the workflow continues.').waitFor();
  await page.goto(`/api/v2/workflow_jobs/${body.workflow_job}/`);
  await comes(walk, '[data-live-status]:has-text("The run ended: successful.")');
  await walk.look('workflow-over');
});

inBrowser()('building a workflow without scripts', () => {
  it('offers the templates for a step as a list', async () => {
    const { page, faults, close } = await visit(test, test.as.users.superuser, {
      javaScriptEnabled: false,
    });
    const name = 'Chosen from a list';
    // A deep run creates more templates than a list without scripts shows.
    await test.database.execute(sql`DELETE FROM unified_jobs`);
    await test.database.execute(
      sql`DELETE FROM unified_job_templates WHERE type LIKE '%job_template' AND type <> 'system_job_template'`,
    );
    await test.make.jobTemplate({ name, project: project.id });
    const workflow = await test.make.workflowTemplate();
    await page.goto(`/api/v2/workflow_job_templates/${workflow.id}/`);
    await page.locator('#step-template').selectOption({ label: name });
    const build = page.locator('#build');
    await build.getByRole('button', { name: 'Add', exact: true }).first().click();
    await build.getByRole('heading', { name, exact: true }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });
});
