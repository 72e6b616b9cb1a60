/**
 * Labels, the objects that have them, and the permissions to use them (docs/contract/resources.md#labels).
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { removeInventory } from '../support/inventory-deletion.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let organization: number;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
});
afterAll(() => test.close());

async function labeledTemplate(...names: string[]): Promise<Row> {
  const { as, make } = test;
  const project = await make.project({ organization });
  const inventory = await make.inventory({ organization });
  const template = await make.jobTemplate({
    project: project.id,
    inventory: inventory.id,
    ask_labels_on_launch: true,
  });
  for (const name of names) {
    const url = `job_templates/${template.id}/labels/`;
    const { status } = await as.superuser.post(url, { name, organization });
    expect([201, 204]).toContain(status);
  }
  return template;
}

describe('the list of labels', () => {
  it('supports creation and renaming, and no deletion', async () => {
    const { as } = test;
    const made = await as.orgMember.post('labels/', { name: 'made', organization }).expect(201);
    expect(made.headers.location).toBe(made.body.url);
    expect(made.body.summary_fields.organization.name).toBe('Home');
    const url = `labels/${made.body.id}/`;
    await as.orgMember.patch(url, { name: 'renamed' }).expect(403);
    await as.orgAdmin.patch(url, { name: 'renamed' }).expect(200);
    await as.orgAdmin.put(url, { name: 'replaced', organization }).expect(200);
    await as.superuser.delete(url).expect(405);
    const { headers } = await as.orgAdmin.options(url).expect(200);
    expect(headers.allow).toBe('GET, PUT, PATCH, HEAD, OPTIONS');
  });

  it('requires a unique name in an organization', async () => {
    const { as, home } = test;
    await as.orgAdmin.post('labels/', { name: 'once', organization }).expect(201);
    const { body } = await as.orgAdmin.post('labels/', { name: 'once', organization }).expect(400);
    expect(body).toEqual({ __all__: ['Label with this Name and Organization already exists.'] });
    const other = { name: 'once', organization: home.otherOrganization.id };
    await as.outsider.post('labels/', other).expect(201);
  });

  it('refuses missing and long names, and organizations of others', async () => {
    const { as } = test;
    await as.orgAdmin.post('labels/', { name: 'x' }).expect(400);
    await as.orgAdmin.post('labels/', { name: 'x'.repeat(513), organization }).expect(400);
    await as.orgAdmin.post('labels/', { name: 'x', organization: 2_000_000 }).expect(400);
    await as.outsider.post('labels/', { name: 'x', organization }).expect(403);
    await as.nobody.post('labels/', { name: 'x', organization }).expect(403);
  });

  it('shows a label to its organization and to readers of objects with it', async () => {
    const { as, make } = test;
    const template = await labeledTemplate('seen');
    const { body } = await as.superuser.get('labels/?name=seen').expect(200);
    const url = `labels/${body.results[0].id}/`;
    await as.orgMember.get(url).expect(200);
    await as.nobody.get(url).expect(403);
    const user = await make.user();
    const reader = await as.asUser(user);
    await make.grant('job_template', template, 'read_role', { user });
    await reader.get(url).expect(200);
    const found = await reader.get('job_templates/?labels__name=seen').expect(200);
    expect(found.body.count).toBe(1);
  });
});

describe('the labels of an object', () => {
  it('are attached by id or by name, created if they are new, and shown with the object', async () => {
    const { as } = test;
    const template = await labeledTemplate();
    const url = `job_templates/${template.id}/labels/`;
    const made = await as.orgAdmin.post(url, { name: 'blue', organization }).expect(201);
    await as.orgAdmin.post(url, { name: 'blue', organization }).expect(204);
    await as.orgAdmin.post('labels/', { name: 'green', organization }).expect(201);
    await as.orgAdmin.post(url, { name: 'green', organization: `${organization}` }).expect(204);
    await as.orgAdmin.post(url, { id: made.body.id }).expect(204);
    const shown = await as.orgAdmin.get(`job_templates/${template.id}/`).expect(200);
    expect(shown.body.related.labels).toBe(`/api/v2/${url}`);
    const { labels } = shown.body.summary_fields;
    expect(labels.count).toBe(2);
    expect(labels.results.map(({ name }: { name: string }) => name)).toEqual(['blue', 'green']);
    const list = await as.orgAdmin.get(url).expect(200);
    expect(list.body.count).toBe(2);
  });

  it('can be changed by admins of the object only', async () => {
    const { as } = test;
    const template = await labeledTemplate('kept');
    const url = `job_templates/${template.id}/labels/`;
    await as.orgMember.post(url, { name: 'other', organization }).expect(403);
    await as.orgMember.post(url, { name: 'kept', organization }).expect(403);
    expect((await as.superuser.get('labels/?name=other').expect(200)).body.count).toBe(0);
  });

  it('are deleted with their last use', async () => {
    const { as, make } = test;
    const [first, second] = [await labeledTemplate('shared'), await labeledTemplate('shared')];
    const inventory = await make.inventory({ organization });
    await as.orgAdmin
      .post(`inventories/${inventory.id}/labels/`, { name: 'shared', organization })
      .expect(204);
    const found = await as.orgAdmin.get('labels/?name=shared').expect(200);
    const { id } = found.body.results[0];
    const take = (path: string) =>
      as.orgAdmin.post(`${path}/labels/`, { id, disassociate: true }).expect(204);
    await take(`job_templates/${first.id}`);
    await take(`job_templates/${second.id}`);
    await as.orgAdmin.get(`labels/${id}/`).expect(200);
    await take(`inventories/${inventory.id}`);
    await as.orgAdmin.get(`labels/${id}/`).expect(404);
  });

  it('are deleted with the last object that has them', async () => {
    const { as, make, database } = test;
    const template = await labeledTemplate('of objects');
    const inventory = await make.inventory({ organization });
    const workflow = await make.workflowTemplate({ organization });
    const node = await make.workflowNode(workflow, { unified_job_template: template.id });
    const found = await as.superuser.get('labels/?name=of objects').expect(200);
    const { id } = found.body.results[0];
    for (const url of [`inventories/${inventory.id}/`, `workflow_job_template_nodes/${node.id}/`]) {
      await as.superuser.post(`${url}labels/`, { id }).expect(204);
    }
    const job = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, finished, event_processing_finished)
      VALUES ('job', 'Ran', 'successful', now(), true) RETURNING id`);
    await database.execute(sql`
      INSERT INTO job_labels (job_id, label_id) VALUES (${job!.id}, ${id})`);
    await as.superuser.delete(`job_templates/${template.id}/`).expect(204);
    await as.superuser.delete(`workflow_job_templates/${workflow.id}/`).expect(204);
    await as.superuser.delete(`inventories/${inventory.id}/`).expect(202);
    await removeInventory(test, inventory.id);
    await as.superuser.get(`labels/${id}/`).expect(200);
    await as.superuser.delete(`jobs/${job!.id}/`).expect(204);
    await as.superuser.get(`labels/${id}/`).expect(404);
  });

  it('are deleted with their last use in any table', async () => {
    const rows = await test.database.rows<{ name: string }>(sql`
      SELECT conrelid::regclass AS name FROM pg_constraint
      WHERE confrelid = 'labels'::regclass AND NOT EXISTS (
        SELECT 1 FROM pg_trigger
        WHERE tgrelid = conrelid AND tgfoid = 'remove_unused_label'::regproc)`);
    expect(rows).toEqual([]);
  });

  it('are limited to a hundred, and can be detached at the limit', async () => {
    const { as, database } = test;
    const template = await labeledTemplate();
    const made = await database.rows<{ id: number }>(sql`
      INSERT INTO labels (name, organization_id)
      SELECT 'many ' || number, ${organization} FROM generate_series(1, 101) AS number RETURNING id`);
    const ids = made.map(({ id }) => id);
    await database.execute(sql`
      INSERT INTO job_template_labels (job_template_id, label_id)
      SELECT ${template.id}, id FROM unnest(${ids.slice(0, 99)}::int[]) AS id`);
    const url = `job_templates/${template.id}/labels/`;
    await as.orgAdmin.post(url, { id: ids[99] }).expect(204);
    const { body } = await as.orgAdmin.post(url, { id: ids[100] }).expect(400);
    expect(body).toEqual({
      detail: `Maximum number of labels for ${String(template.name)} reached.`,
    });
    await as.orgAdmin.post(url, { name: 'one more', organization }).expect(400);
    expect((await as.superuser.get('labels/?name=one more').expect(200)).body.count).toBe(0);
    await as.orgAdmin.post(url, { id: ids[0] }).expect(204);
    await as.orgAdmin.post(url, { id: ids[0], disassociate: true }).expect(204);
    await as.orgAdmin.post(url, { id: ids[100] }).expect(204);
    const shown = await as.orgAdmin.get(`job_templates/${template.id}/`).expect(200);
    expect(shown.body.summary_fields.labels.count).toBe(100);
    expect(shown.body.summary_fields.labels.results).toHaveLength(10);
  });

  it('keep a label that one request detaches while another attaches it', async () => {
    const { as } = test;
    for (let round = 0; round < 5; round++) {
      const name = `race ${round}`;
      const [from, to] = [await labeledTemplate(name), await labeledTemplate()];
      const { body } = await as.superuser.get(`labels/?name=${name}`).expect(200);
      const { id } = body.results[0];
      const [, attached] = await Promise.all([
        as.superuser.post(`job_templates/${from.id}/labels/`, { id, disassociate: true }),
        as.superuser.post(`job_templates/${to.id}/labels/`, { id }),
      ]);
      const { body: after } = await as.superuser.get(`job_templates/${to.id}/labels/`).expect(200);
      expect(after.count).toBe(attached.status === 204 ? 1 : 0);
      expect([204, 400]).toContain(attached.status);
    }
  });

  it('are attached if another request creates the label of that name at the same time', async () => {
    const { as } = test;
    const templates = [await labeledTemplate(), await labeledTemplate()];
    for (let round = 0; round < 5; round++) {
      const body = { name: `new ${round}`, organization };
      const answers = await Promise.all(
        templates.map(({ id }) => as.superuser.post(`job_templates/${id}/labels/`, body)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 204]);
    }
  });

  it('need the same number of statements for one row and for fifty', async () => {
    const { as } = test;
    for (let i = 0; i < 5; i++) await labeledTemplate(`query ${i}`);
    await samePageQueries(test.database, as.superuser, 'job_templates/', [1, 5]);
  });
});

describe('a launch', () => {
  it('adds its labels to those of the template', async () => {
    const { as } = test;
    const template = await labeledTemplate('own');
    const added = await as.orgAdmin.post('labels/', { name: 'added', organization }).expect(201);
    const needs = await as.orgAdmin.get(`job_templates/${template.id}/launch/`).expect(200);
    expect(needs.body.defaults.labels).toEqual([{ id: expect.any(Number), name: 'own' }]);
    const launched = await as.orgAdmin
      .post(`job_templates/${template.id}/launch/`, { labels: [added.body.id] })
      .expect(201);
    const { body } = await as.orgAdmin.get(`jobs/${launched.body.job}/labels/`).expect(200);
    expect(body.results.map(({ name }: { name: string }) => name)).toEqual(['added', 'own']);
    const job = await as.orgAdmin.get(`jobs/${launched.body.job}/`).expect(200);
    expect(job.body.summary_fields.labels.count).toBe(2);
    await as.orgAdmin.post(`jobs/${launched.body.job}/labels/`, { id: added.body.id }).expect(405);
  });

  it('refuses labels that do not exist or are not readable', async () => {
    const { as, home } = test;
    const template = await labeledTemplate();
    const launch = `job_templates/${template.id}/launch/`;
    const { body } = await as.orgAdmin.post(launch, { labels: [999_999] }).expect(400);
    expect(body).toEqual({ labels: ['Invalid pk "999999" - object does not exist.'] });
    const foreign = await as.outsider
      .post('labels/', { name: 'foreign', organization: home.otherOrganization.id })
      .expect(201);
    await as.orgAdmin.post(launch, { labels: [foreign.body.id] }).expect(403);
  });
});
