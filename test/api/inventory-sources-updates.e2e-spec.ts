/**
 * Inventory updates are launched, and their source shows their state
 * (docs/contract/inventory-sources.md#updates).
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { ConstructedSources } from '../../src/inventories/inventory-uses.js';
import { SIGNATURE_FAILED } from '../../src/runs/run-explanations.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { failSync } from '../support/failed-sync.js';
import { inUse } from '../support/in-use.js';
import { removeInventory } from '../support/inventory-deletion.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let inventory: Row;
let project: Row;
beforeAll(async () => {
  test = await boot();
  const organization = test.home.organization.id;
  inventory = await test.make.inventory({ organization });
  project = await test.make.project({
    ...{ organization, scm_type: 'git', scm_url: 'https://example.org/a.git' },
    allow_override: true,
  });
});
afterAll(() => test.close());

let counter = 0;
const files = () => ({ source: 'scm', source_project: project.id });
/** Creates a source, by default of a cloud. */
const post = (values: object) =>
  test.as.superuser.post('inventory_sources/', {
    ...{ name: `Source ${(counter += 1)}`, inventory: inventory.id, source: 'ec2' },
    ...values,
  });

it('updates are started, shown and counted', async () => {
  const { body: source } = await post({}).expect(201);
  const path = `inventory_sources/${source.id}/update/`;
  expect((await test.as.superuser.get(path).expect(200)).body).toEqual({ can_update: true });
  const started = await test.as.superuser.post(path, {}).expect(202);
  const { inventory_update: id } = started.body;
  expect(started.body.url).toBe(`/api/v2/inventory_updates/${id}/`);
  expect(started.headers.location).toBe(`/api/v2/inventory_updates/${id}/`);
  expect(started.body).toMatchObject({ id, type: 'inventory_update', status: 'pending' });
  const { body: listed } = await test.as.superuser.get(`inventory_updates/?id=${id}`);
  expect(listed.results[0].inventory_source).toBe(source.id);
  const { body: unified } = await test.as.superuser.get(`unified_jobs/?id=${id}`);
  expect(unified.results[0].type).toBe('inventory_update');
  const { body: after } = await test.as.superuser.get(`inventory_sources/${source.id}/`);
  expect(after.status).toBe('pending');
  await test.as.superuser.delete(`inventory_sources/${source.id}/`).expect(409);
  await test.as.superuser.post(`inventory_updates/${id}/cancel/`, {}).expect(202);
  await test.as.superuser.delete(`inventory_sources/${source.id}/`).expect(204);
  await test.as.superuser.get(`inventory_updates/${id}/`).expect(404);
});

it('updates are deleted with the inventory of their source', async () => {
  const { as, make, home } = test;
  const own = await make.inventory({ organization: home.organization.id });
  const { body: source } = await post({ inventory: own.id }).expect(201);
  const path = `inventory_sources/${source.id}/update/`;
  const { body: run } = await as.superuser.post(path, {}).expect(202);
  await as.superuser.post(`inventory_updates/${run.id}/cancel/`, {}).expect(202);
  await as.superuser.delete(`inventories/${own.id}/`).expect(202);
  await removeInventory(test, own.id);
  await as.superuser.get(`inventory_updates/${run.id}/`).expect(404);
});

it('updates are deleted after their events, which can be millions, in small parts', async () => {
  const { as, app, database, make, home } = test;
  const own = await make.inventory({ organization: home.organization.id });
  const { body: source } = await post({ inventory: own.id }).expect(201);
  const { body: run } = await as.superuser
    .post(`inventory_sources/${source.id}/update/`, {})
    .expect(202);
  await database.execute(sql`
    INSERT INTO job_events (job_id, counter, event) SELECT ${run.id}, generate_series(1, 3), 'verbose'`);
  const sources = app.get(ConstructedSources, { strict: false });
  for (const removed of [2, 1, 1, 0]) {
    expect(await sources.removeUpdates(own.id, 2)).toBe(removed);
  }
});

it('an update without a project is refused', async () => {
  const { body: source } = await post(files()).expect(201);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET source_project_id = NULL WHERE id = ${source.id}`);
  const update = `inventory_sources/${source.id}/update/`;
  const { body: needs } = await test.as.superuser.get(update).expect(200);
  expect(needs).toEqual({ can_update: false });
  const { body: refused } = await test.as.superuser.post(update, {}).expect(405);
  expect(refused).toEqual({ detail: 'Method "POST" not allowed.' });
});

it('an update of all sources reports how many can be started', async () => {
  const own = await test.make.inventory({ organization: test.home.organization.id });
  const path = `inventories/${own.id}/update_inventory_sources/`;
  const { body: none } = await test.as.superuser.post(path, {}).expect(400);
  expect(none).toEqual({ detail: 'No inventory sources to update.' });
  const { body: first } = await post({ inventory: own.id }).expect(201);
  const { body: all } = await test.as.superuser.post(path, {}).expect(200);
  expect(all).toEqual([
    expect.objectContaining({
      ...{ inventory_source: first.id, status: 'started', type: 'inventory_update' },
      inventory_update: expect.any(Number),
    }),
  ]);
  const { body: broken } = await post({ ...files(), inventory: own.id }).expect(201);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET source_project_id = NULL WHERE id = ${broken.id}`);
  const { body: some } = await test.as.superuser.post(path, {}).expect(202);
  const refused = {
    inventory_source: broken.id,
    status: 'Could not start because `can_update` returned False',
  };
  expect(some).toContainEqual(refused);
  expect((await test.as.superuser.get(path).expect(200)).body).toEqual([
    { inventory_source: first.id, can_update: true },
    { inventory_source: broken.id, can_update: false },
  ]);
  const { body: counted } = await test.as.superuser.get(`inventories/${own.id}/`);
  expect(counted).toMatchObject({ has_inventory_sources: true, total_inventory_sources: 2 });
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = 'canceled' WHERE inventory_source_id = ${first.id}`);
  await test.as.superuser.delete(`inventory_sources/${first.id}/`).expect(204);
  const client = test.as.superuser.with({ 'Idempotency-Key': 'all sources' });
  expect((await client.post(path, {}).expect(400)).body).toEqual([refused]);
  expect((await client.post(path, {}).expect(400)).body).toEqual([refused]);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET source_project_id = ${project.id} WHERE id = ${broken.id}`);
  const { body: started } = await client.post(path, {}).expect(200);
  expect((await client.post(path, {}).expect(200)).body).toEqual(started);
});

it('a source shows its update while it waits, runs, and after its end', async () => {
  const { as, make, home } = test;
  const own = await make.inventory({ organization: home.organization.id });
  const { body: source } = await post({ inventory: own.id }).expect(201);
  const path = `inventory_sources/${source.id}/`;
  const shown = async (url = path) => (await as.superuser.get(url).expect(200)).body;
  expect(await shown()).toMatchObject({
    ...{ status: 'never updated', last_updated: null, last_update_failed: false },
  });
  const { body: run } = await as.superuser.post(`${path}update/`, {}).expect(202);
  const [id, url] = [Number(run.id), `/api/v2/inventory_updates/${run.id}/`];
  const update = `inventory_updates/${id}/`;
  const trail = await test.database.rows(sql`
    SELECT operation, changes FROM activity_stream
    WHERE object1 = 'inventory_update' AND object1_id = ${id}`);
  const changes = { id, name: run.name, inventory_source: source.id };
  expect(trail).toEqual([{ operation: 'create', changes }]);
  const transitions = test.app.get(RunTransitions, { strict: false });
  for (const status of ['pending', 'running'] as const) {
    if (status === 'running') await transitions.move([id], { from: ['pending'], to: status });
    expect(await shown()).toMatchObject({
      ...{ status, last_updated: null },
      related: { current_update: url, current_job: url },
      summary_fields: { current_update: { id, status }, current_job: { id, status } },
    });
    expect(await shown(`${path}update/`)).toEqual({ can_update: true });
    expect(await shown(`${update}cancel/`)).toEqual({ can_cancel: true });
    const { body: deleted } = await as.superuser.delete(update).expect(403);
    expect(deleted).toEqual({ detail: 'Cannot delete running job resource.' });
    for (const used of [path, `${path}hosts/`, `${path}groups/`]) {
      const { body } = await as.superuser.delete(used).expect(409);
      expect(body).toEqual(inUse({ id, type: 'inventory_update' }));
    }
  }
  await transitions.move([id], { from: ['running'], to: 'failed' });
  const { finished } = await shown(update);
  expect(await shown()).toMatchObject({
    ...{ status: 'failed', last_updated: finished, last_update_failed: true },
    ...{ last_job_run: finished, last_job_failed: true },
    related: { last_update: url, last_job: url },
    summary_fields: { last_update: { id, status: 'failed' } },
  });
  expect((await shown()).related).not.toHaveProperty('current_update');
  expect(await shown(`inventories/${own.id}/`)).toMatchObject({
    inventory_sources_with_failures: 1,
  });
  expect(await shown(`${update}cancel/`)).toEqual({ can_cancel: false });
  await as.superuser.post(`${update}cancel/`, {}).expect(405);
  await test.database.execute(sql`
    UPDATE unified_jobs SET event_processing_finished = false WHERE id = ${id}`);
  const { body: early } = await as.superuser.delete(update).expect(400);
  expect(early).toEqual({ detail: 'Job has not finished processing events.' });
});

it('updates require a successfully synced project, and cannot override its branch', async () => {
  const { as, database } = test;
  const { body: source } = await post({ ...files(), scm_branch: 'next' }).expect(201);
  const start = () => as.superuser.post(`inventory_sources/${source.id}/update/`, {});
  for (const status of ['failed', 'error']) {
    await database.execute(
      sql`UPDATE unified_job_templates SET status = ${status} WHERE id = ${project.id}`,
    );
    expect((await start().expect(400)).body).toEqual({
      __all__: ['Missing a revision to run due to failed project update.'],
    });
  }
  await failSync(test, project.id, `${SIGNATURE_FAILED}x is missing.`);
  expect((await start().expect(400)).body).toEqual({
    __all__: ['Last project update failed due to signature validation failure.'],
  });
  await as.superuser.patch(`projects/${project.id}/`, { scm_update_on_launch: true }).expect(200);
  await start().expect(202);
  await database.execute(
    sql`UPDATE unified_job_templates SET allow_override = false WHERE id = ${project.id}`,
  );
  expect((await start().expect(400)).body).toEqual({
    scm_branch: ['Project does not allow overriding branch.'],
  });
});
