/**
 * A list reads few rows for a caller who may see few of them, even if most of the table belongs to one
 * organization, which PostgreSQL then expects of every organization (docs/decisions/0110-kept-totals.md).
 */
import { RoleStore, type Actor } from '../../src/common/access.js';
import { FEW_ROWS } from '../../src/common/list/list-plans.js';
import { ListService } from '../../src/common/list/list.service.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import type { Statement } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { partsOf } from '../support/parts.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const ROWS = 5000;
const OWN = 5;
const FILLED = ['host', 'job', 'notification'];

let test: TestApp;
let lists: ListService;
let actor: Actor;

beforeAll(async () => {
  test = await boot();
  lists = test.app.get(ListService, { strict: false });
  const samples = new Samples(test);
  const roles = test.app.get(RoleStore, { strict: false });
  const copies = async (type: string, row: Row, count: number) =>
    multiply(test.database, roles, type, row, count);
  for (const type of FILLED) await copies(type, await samples.of(type), ROWS);
  const entry = await test.database.row<Row>(sql`
    SELECT * FROM activity_stream WHERE organization_id = ${test.home.organization.id} LIMIT 1`);
  if (entry) await copies('activity_stream', entry, ROWS);

  const { outsider } = test.as;
  const organization = test.home.otherOrganization.id;
  const made = async (path: string, body: object, status = 201): Promise<Row> =>
    (await outsider.post(path, body).expect(status)).body;
  const inventory = await made('inventories/', { name: 'Own', organization });
  await copies('host', await made('hosts/', { name: 'own', inventory: inventory.id }), OWN);
  const target = await made('notification_templates/', {
    ...{ name: 'Own', organization, notification_type: 'webhook' },
    notification_configuration: { url: 'http://127.0.0.1:9/', headers: {} },
  });
  const sent = await made(`notification_templates/${target.id}/test/`, {}, 200);
  await copies('notification', { ...sent, id: Number(sent.notification) }, OWN);
  const own = await copies('job', await samples.of('job'), OWN);
  await test.database.execute(sql`
    UPDATE unified_jobs SET organization_id = ${organization} WHERE id = ANY(${own}::bigint[])`);
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event)
    SELECT id, n, 'verbose' FROM unified_jobs, generate_series(1, 2) n WHERE type = 'job'`);
  await test.database.execute({ text: 'VACUUM ANALYZE' });
  const user = test.as.users.outsider;
  actor = { id: user.id, username: 'outsider', isSuperuser: false, isSystemAuditor: false };
});
afterAll(() => test.close());

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Returns the number of rows of a table that a statement reads. */
async function rowsRead(table: string, statement: Statement): Promise<number> {
  const { text, values = [] } = 'toQuery' in statement ? statement.toQuery() : statement;
  const explained = await test.database.row<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
    text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  });
  const nodes = explained ? nodesOf(explained['QUERY PLAN'][0].Plan) : [];
  const parts = await partsOf(test.database, table);
  return nodes
    .filter((node) => parts.has(node['Relation Name']))
    .map((node) => {
      const left =
        (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      return (node['Actual Rows'] + left) * node['Actual Loops'];
    })
    .reduce((sum, rows) => sum + rows, 0);
}

it.each([
  ...[['host', 'id'] as const, ['host', '-name'] as const],
  ...[['job', '-id'] as const, ['job', '-finished'] as const],
  ...[['unified_job', '-finished'] as const, ['unified_job', 'name'] as const],
  ...[['job_event', 'id'] as const, ['job_event', '-id'] as const],
  ...[['activity_stream', 'id'] as const, ['activity_stream', '-timestamp'] as const],
  ...[['notification', 'id'] as const, ['notification', '-created'] as const],
])('lists of %s by %s use an index', async (type, order) => {
  const statements: Statement[] = [];
  const original = test.database.run.bind(test.database);
  const run = jest.spyOn(test.database, 'run').mockImplementation((statement) => {
    statements.push(statement);
    return original(statement);
  });
  const { count } = await lists
    .list(resource(type), { order_by: order }, actor)
    .finally(() => run.mockRestore());
  expect(count).toBeGreaterThanOrEqual(OWN);
  expect(count).toBeLessThan(FEW_ROWS);
  const read = await Promise.all(
    statements.map((statement) => rowsRead(resource(type).table, statement)),
  );
  const total = read.reduce((sum, rows) => sum + rows, 0);
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThan(2 * FEW_ROWS);
});
