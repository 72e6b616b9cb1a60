/** Saved launches whose inventory was deleted: they run on no other inventory (docs/decisions/0047). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { htmlOf } from '../browser/html.js';
import { boot, type TestApp } from '../support/boot.js';
import { removeInventory } from '../support/inventory-deletion.js';
import { WorkflowRuns } from '../support/workflow-templates.js';

let test: TestApp;
let runs: WorkflowRuns;
/** Template with an inventory, which launches can replace. */
let template: Row;
let gone: Row;

beforeAll(async () => {
  test = await boot();
  runs = new WorkflowRuns(test);
  template = await test.make.jobTemplate({
    ask_inventory_on_launch: true,
    allow_simultaneous: true,
  });
});
afterAll(() => test.close());
beforeEach(async () => {
  gone = await test.make.inventory();
});

async function deleteInventory(): Promise<void> {
  await test.as.superuser.delete(`inventories/${gone.id}/`).expect(202);
  await removeInventory(test, gone.id);
}

it('a node keeps the id and fails, also in a copy, until another inventory is selected', async () => {
  const { superuser } = test.as;
  const deploy = { unified_job_template: template.id, inventory: gone.id };
  const workflow = await runs.template({ deploy });
  await deleteInventory();
  const copied = await superuser
    .post(`workflow_job_templates/${workflow.id}/copy/`, { name: 'Copy' })
    .expect(201);
  for (const { id } of [workflow, copied.body as Row]) {
    const nodes = await superuser.get(`workflow_job_templates/${id}/workflow_nodes/`).expect(200);
    expect(nodes.body.results).toMatchObject([{ inventory: gone.id }]);
    const job = await runs.launch({ id } as Row);
    const run = await runs.runOf(job, 'deploy');
    expect(run).toMatchObject({ status: 'failed', inventory_id: null });
    expect(run!.job_explanation).toContain(`Invalid pk "${gone.id}" - object does not exist.`);
    await runs.settle();
    const node = `workflow_job_template_nodes/${nodes.body.results[0].id}/`;
    await superuser.patch(node, { inventory: null }).expect(200);
    const again = await runs.runOf(await runs.launch({ id } as Row), 'deploy');
    expect(again).toMatchObject({ status: 'pending', inventory_id: template.inventory_id });
  }
});

it('a node runs if its template no longer prompts for the inventory', async () => {
  const fixed = await test.make.jobTemplate({ ask_inventory_on_launch: true });
  const deploy = { unified_job_template: fixed.id, inventory: gone.id };
  const workflow = await runs.template({ deploy });
  await deleteInventory();
  const changed = { ask_inventory_on_launch: false };
  await test.as.superuser.patch(`job_templates/${fixed.id}/`, changed).expect(200);
  const run = await runs.runOf(await runs.launch(workflow), 'deploy');
  expect(run).toMatchObject({ status: 'pending', inventory_id: fixed.inventory_id });
});

it('a workflow is not launched until another inventory, or none, is selected', async () => {
  const { superuser } = test.as;
  const deploy = { unified_job_template: template.id };
  const workflow = await runs.template({ deploy }, [], { inventory: gone.id });
  await deleteInventory();
  const url = `workflow_job_templates/${workflow.id}/`;
  const needs = await superuser.get(`${url}launch/`).expect(200);
  expect(needs.body.can_start_without_user_input).toBe(false);
  expect((await superuser.post(`${url}launch/`, {}).expect(400)).body).toEqual({
    inventory: ['The inventory associated with this Workflow Job Template was deleted.'],
  });
  const copied = await superuser.post(`${url}copy/`, { name: 'Copy of it' }).expect(400);
  expect(Object.keys(copied.body)).toEqual(['inventory']);
  await superuser.patch(url, { inventory: null }).expect(200);
  await superuser.post(`${url}launch/`, {}).expect(201);
});

it('a form keeps the id until the user selects another inventory', async () => {
  const { superuser } = test.as;
  const { body: schedule } = await superuser
    .post(`job_templates/${template.id}/schedules/`, {
      ...{ name: `On ${gone.id}`, rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1' },
      inventory: gone.id,
    })
    .expect(201);
  await deleteInventory();
  const path = `schedules/${schedule.id}/`;
  const page = await htmlOf(superuser, `${path}?_form=patch`);
  expect(page).toMatch(new RegExp(`<option +value="${gone.id}" selected>#${gone.id}</option>`));
});

it('job templates have no inventory, also after the deletion of its organization', async () => {
  const organization = await test.make.organization();
  const foreign = await test.make.inventory({ organization: organization.id });
  const own = await test.make.jobTemplate({ inventory: foreign.id });
  await test.as.superuser.delete(`organizations/${organization.id}/`).expect(204);
  const row = await test.database.row<Row>(sql`
    SELECT inventory_id FROM unified_job_templates WHERE id = ${own.id}`);
  expect(row).toEqual({ inventory_id: null });
});
