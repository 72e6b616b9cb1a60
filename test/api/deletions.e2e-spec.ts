/**
 * Objects are deleted despite references to them. Each type that can be deleted is referenced through every
 * foreign key of the schema, including keys that are added later, and so are the objects deleted with it.
 *
 * Budget: 25 s, because it deletes every kind of object with everything that refers to it.
 */
import { randomUUID } from 'node:crypto';

import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { resource, resources } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { SchedulesRepository } from '../../src/schedules/schedules.repository.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { interleave } from '../support/interleave.js';
import { removeInventory } from '../support/inventory-deletion.js';
import type { Home } from '../support/personas.js';
import { addReferences, foreignKeys } from '../support/references.js';
import { Samples, sampleTypes } from '../support/samples.js';

/** Types that can be deleted, with the types that refer to them and outlive them. */
const OUTLIVING: Record<string, readonly string[]> = {
  user: ['job', 'job_template', 'credential', 'team', 'organization'],
  team: ['job_template', 'credential'],
  o_auth2_access_token: ['user'],
  o_auth2_application: ['user', 'organization'],
  credential: ['job', 'job_template', 'project', 'credential_type'],
  credential_type: [],
  credential_input_source: ['credential'],
  authenticator: ['user', 'role', 'team'],
  authenticator_map: ['authenticator', 'team'],
  external_identity: ['authenticator', 'user'],
  execution_environment: ['organization', 'credential', 'ad_hoc_command'],
  instance_group: ['job_template', 'inventory', 'organization', 'instance', 'credential'],
  inventory: ['job', 'job_template', 'schedule', 'workflow_job_template_node'],
  constructed_inventory: ['inventory', 'job', 'job_template'],
  host: ['job', 'job_event', 'job_host_summary', 'group'],
  group: ['inventory'],
  inventory_source: ['inventory', 'host', 'group', 'credential'],
  inventory_update: ['inventory_source', 'inventory', 'notification'],
  project: ['job', 'job_template', 'webhook_delivery', 'workflow_job_template_node'],
  job_template: ['job', 'workflow_job', 'webhook_delivery', 'workflow_job_template_node'],
  workflow_job_template: ['job', 'workflow_job', 'webhook_delivery'],
  workflow_job_template_node: ['job_template', 'workflow_job_template'],
  workflow_approval_template: ['job', 'workflow_job', 'workflow_job_template_node'],
  schedule: ['job', 'workflow_job', 'job_template'],
  notification_template: ['job', 'job_template', 'organization'],
  job: ['job_template', 'webhook_delivery', 'notification'],
  project_update: ['project', 'webhook_delivery', 'notification'],
  ad_hoc_command: ['inventory', 'credential', 'notification'],
  system_job: ['system_job_template', 'notification'],
  workflow_job: ['workflow_job_template', 'webhook_delivery', 'notification'],
  workflow_approval: ['workflow_approval_template', 'webhook_delivery', 'notification'],
  organization: ['job', 'project_update', 'workflow_job', 'job_template', 'project'],
};

/** Types whose rows are only marked as deleted. */
const STAYING = ['host_metric'];

let test: TestApp;
let samples: Samples;
/** Home of the personas. */
let present: Home;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  present = { ...test.home };
});
// Runs after all deletions, in any order: the rows they left must still be readable.
afterAll(async () => {
  try {
    await assertListsAnswer();
  } finally {
    await test.close();
  }
});

const urlOf = async (type: string): Promise<string> =>
  resource(type).url((await samples.of(type)).id);

it('every resource with DELETE is tested', () => {
  const { routes } = test.app.get(RouteTable, { strict: false });
  const paths = routes
    .filter(({ method, info }) => method === 'DELETE' && info?.kind === 'destroy')
    .map(({ pattern }) => /^\/api\/v2\/(\w+)\/:id$/.exec(pattern)?.[1]);
  const types = resources().filter(({ path }) => paths.includes(path));
  expect(types.map(({ type }) => type).sort()).toEqual(
    [...Object.keys(OUTLIVING), ...STAYING].sort(),
  );
});

it('every foreign key cascades or becomes null, and is checked at commit', async () => {
  const undecided = (await foreignKeys(test.database)).filter(
    ({ onDelete, deferrable }) => !['c', 'n'].includes(onDelete) || !deferrable,
  );
  expect(undecided).toEqual([]);
});

/** Creates rows that samples do not need but that can refer to one. */
async function furnishFurther(): Promise<void> {
  const { make, database } = test;
  const [user, inventory, group, workflow, node, host, source, constructed, project] =
    await Promise.all(
      [
        ...['user', 'inventory', 'group', 'workflow_job_template', 'workflow_job_template_node'],
        ...['host', 'inventory_source', 'constructed_inventory', 'project'],
      ].map((type) => samples.of(type)),
    );
  await database.execute(sql`
    INSERT INTO sessions (digest, user_id, generation)
    VALUES (${`digest ${user!.id}`}, ${user!.id}, 0)`);
  await database.execute(sql`
    INSERT INTO totp_secrets (user_id, secret, step) VALUES (${user!.id}, '', 0)`);
  await database.execute(sql`
    INSERT INTO recovery_codes (digest, user_id) VALUES (${`code ${user!.id}`}, ${user!.id})`);
  await database.execute(sql`
    INSERT INTO passkeys (user_id, name, credential_id, public_key, counter, transports)
    VALUES (${user!.id}, 'Key', ${`id ${user!.id}`}, '', 0, '[]')`);
  await database.execute(sql`
    INSERT INTO host_facts (host_id, facts) VALUES (${host!.id}, '{}')`);
  await database.execute(sql`
    INSERT INTO host_project_facts (host_id, project_id, facts)
    VALUES (${host!.id}, ${project!.id}, '{}')`);
  await database.execute(sql`
    INSERT INTO inventory_source_variables (inventory_source_id, inventory_id)
    VALUES (${source!.id}, ${inventory!.id})`);
  await database.execute(sql`
    INSERT INTO inventory_inputs (inventory_id, input_id, attached_by_id)
    VALUES (${constructed!.id}, ${inventory!.id}, ${user!.id}),
      (${inventory!.id}, ${constructed!.id}, ${user!.id})
    ON CONFLICT DO NOTHING`);
  const { id: application } = await samples.of('o_auth2_application');
  const grant = randomUUID();
  await database.execute(sql`
    INSERT INTO authorization_codes
      (digest, application_id, user_id, redirect_uri, scope, grant_id, generation, expires)
    VALUES (${`code ${grant}`}, ${application}, ${user!.id}, 'https://a', 'read', ${grant}, 0, now())`);
  await database.execute(sql`
    INSERT INTO refresh_tokens (digest, application_id, user_id, scope, grant_id, expires)
    VALUES (${`refresh ${grant}`}, ${application}, ${user!.id}, 'read', ${grant}, now())`);
  const child = await make.group(inventory!);
  await database.execute(sql`
    INSERT INTO group_children (parent_id, child_id) VALUES (${group!.id}, ${child.id})`);
  const next = await make.workflowNode(workflow!);
  await database.execute(sql`
    INSERT INTO workflow_job_template_node_edges (parent_id, child_id, kind)
    VALUES (${node!.id}, ${next.id}, 'success')`);
}

async function elsewhere(): Promise<Partial<Home>> {
  const organization = await test.make.organization();
  return { organization, team: await test.make.team({ organization: organization.id }) };
}

/** Creates a sample with references from every table that can refer to it. */
async function furnish(type: string): Promise<void> {
  // The organization that is deleted is not the one that other tests use.
  Object.assign(test.home, type === 'organization' ? await elsewhere() : present);
  samples.reset();
  for (const one of sampleTypes()) await samples.of(one);
  await samples.linkAll();
  await furnishFurther();
  expect(await addReferences(samples, type)).toEqual([]);
}

describe.each(Object.entries(OUTLIVING))('the deletion of a %s', (type, outliving) => {
  it('succeeds with objects that refer to it', async () => {
    await furnish(type);
    const url = await urlOf(type);
    const kept = await Promise.all(outliving.map(urlOf));
    if (type === 'credential_type') {
      // Only credentials refer to a credential type, and they prevent its deletion.
      const { body } = await test.as.superuser.delete(url).expect(403);
      expect(body.detail).toMatch(/in use cannot be deleted: .*credential \d+/);
      const { id } = await samples.of(type);
      const holding = await test.database.rows<{ id: number }>(
        sql`SELECT id FROM credentials WHERE credential_type_id = ${id}`,
      );
      expect(holding.length).toBeGreaterThan(0);
      for (const credential of holding) {
        expect(body.detail).toContain(`credential ${credential.id}`);
        await test.as.superuser.delete(`credentials/${credential.id}/`).expect(204);
      }
    }
    const { status, body } = await test.as.superuser.delete(url);
    expect({ status, body }).toEqual({ status: isLater(type) ? 202 : 204, body: {} });
    if (isLater(type)) await removeInventory(test, (await samples.of(type)).id);
    await test.as.superuser.get(url).expect(404);
    for (const one of kept) await test.as.superuser.get(one).expect(200);
    const { id } = await samples.of(type);
    expect(
      await test.database.rows(
        sql`SELECT role_field FROM roles WHERE content_type = ${type} AND object_id = ${id}::bigint`,
      ),
    ).toEqual([]);
  });
});

/** Returns the statuses of all pages of a list. */
async function statusesOf(list: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let next = `${list}/?page_size=200`; next;) {
    const { status, body } = await test.as.superuser.get(next);
    statuses.push(status);
    next = body.next ?? '';
  }
  return statuses;
}

/** Throws unless every page of every list can be read. */
async function assertListsAnswer(): Promise<void> {
  const { routes } = test.app.get(RouteTable, { strict: false });
  const lists = routes.filter(
    ({ method, pattern, info }) =>
      method === 'GET' && info?.kind === 'list' && !pattern.includes(':'),
  );
  expect(lists.length).toBeGreaterThan(0);
  const faults: string[] = [];
  for (const { pattern } of lists) {
    const statuses = await statusesOf(pattern);
    if (statuses.some((status) => status !== 200)) faults.push(`${pattern}: ${statuses.join()}`);
  }
  expect(faults).toEqual([]);
}

/** Returns true for types whose dependent rows the queue removes after the response. */
const isLater = (type: string): boolean => resource(type).deletesLater;

it('the deletion of an organization deletes the sources of its inventories', async () => {
  const organization = await test.make.organization();
  const inventory = await test.make.inventory({ organization: organization.id });
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', { name: 'Of the cloud', inventory: inventory.id, source: 'ec2' })
    .expect(201);
  await test.as.superuser.delete(`organizations/${organization.id}/`).expect(204);
  await test.as.superuser.get(`inventories/${inventory.id}/`).expect(404);
  await test.as.superuser.get(`inventory_sources/${source.id}/`).expect(404);
});

it('a concurrent deletion is reported by name, without database errors', async () => {
  const template = await test.make.jobTemplate();
  const { body, status } = await test.database.withClient(async (other) => {
    await other.query('BEGIN');
    await other.query('DELETE FROM unified_job_templates WHERE id = $1', [template.project_id]);
    const answer = test.as.superuser
      .post(`job_templates/${template.id}/launch/`, {})
      .then(({ status, body }) => ({ status, body: body as unknown }));
    await eventually(async () => {
      const waiting = await test.database.rows(sql`
        SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
          AND datname = current_database()`);
      expect(waiting).toHaveLength(1);
    });
    await other.query('COMMIT');
    return answer;
  });
  expect({ status, body }).toEqual({
    status: 409,
    body: { detail: 'The project that the unified job refers to was deleted meanwhile.' },
  });
});

it('a refused deletion names the objects that prevent it, and counts the others', async () => {
  const template = await test.make.jobTemplate({ allow_simultaneous: true });
  const url = `job_templates/${template.id}/`;
  const ids: number[] = [];
  for (let count = 0; count < 7; count++) {
    const { body } = await test.as.superuser.post(`${url}launch/`, {}).expect(201);
    ids.push(body.id as number);
  }
  expect((await test.as.superuser.delete(url).expect(409)).body).toEqual(
    inUse(...ids.map((id) => ({ id, type: 'job' }))),
  );
});

describe('a template can be deleted', () => {
  let template: number;
  let schedule: number;
  beforeEach(async () => {
    template = (await test.make.jobTemplate()).id;
    const rrule = 'DTSTART:20300101T080000Z RRULE:FREQ=DAILY;INTERVAL=1';
    const fields = { name: 'Daily', rrule, unified_job_template: template };
    schedule = (await test.make.row('schedule', fields)).id;
  });

  const lockTemplate = () =>
    test.database.execute(
      sql`SELECT 1 FROM unified_job_templates WHERE id = ${template} FOR UPDATE`,
    );

  it.each(['delete', 'patch'] as const)('while a %s of its schedule waits', async (method) => {
    const { as, database } = test;
    await interleave(database, [
      lockTemplate,
      async () => as.superuser[method](`schedules/${schedule}/`, { enabled: false }),
      () => database.execute(sql`SELECT 1 FROM schedules WHERE id = ${schedule} FOR UPDATE NOWAIT`),
    ]);
  });

  it('while its schedule is due', async () => {
    const { app, database } = test;
    await database.execute(sql`UPDATE schedules SET next_run = now() WHERE id = ${schedule}`);
    const schedules = app.get(SchedulesRepository, { strict: false });
    const lockDue = () => database.transaction(() => schedules.lockDue(10));
    await interleave(database, [
      lockTemplate,
      async () => expect(await lockDue()).toEqual([]),
      async () => undefined,
    ]);
    expect(await lockDue()).toMatchObject([{ id: schedule }]);
  });
});
