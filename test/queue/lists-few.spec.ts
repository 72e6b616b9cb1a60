/**
 * A caller who may see few rows of a long table gets the same lists from the query by roles as from the query
 * by order (docs/decisions/0110-kept-totals.md).
 *
 * Budget: 35 s, because it plans the lists of a caller with few objects among 50,000 rows.
 */
import { armsOf, permit, RoleStore, type Actor } from '../../src/common/access.js';
import { FEW_ROWS } from '../../src/common/list/list-plans.js';
import {
  resource,
  resources,
  type ResourceDefinition,
  type Row,
} from '../../src/common/resource/define-resource.js';
import { and, ident, join, sql, type Sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { Samples } from '../support/samples.js';

const COUNTED = [
  ...['host', 'group', 'job', 'project_update', 'inventory_update', 'ad_hoc_command'],
  ...['workflow_job', 'activity_stream', 'notification'],
];

let test: TestApp;
let samples: Samples;
let roles: RoleStore;
async function prepare(): Promise<void> {
  test = await boot();
  samples = new Samples(test);
  roles = test.app.get(RoleStore, { strict: false });
  newest.clear();
  await copy(4);
}

/** Newest row of each type, whose copies have names that no other row has. */
const newest = new Map<string, Row>();

/** Creates more rows of each type, and events of all runs. */
async function copy(count: number): Promise<void> {
  for (const type of COUNTED) {
    const row = newest.get(type) ?? (await samples.of(type));
    const copies = await multiply(test.database, roles, type, row, count);
    newest.set(type, { ...row, id: copies.at(-1) ?? row.id });
  }
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event)
    SELECT run.id, n, CASE WHEN n = 1 THEN 'playbook_on_start' ELSE 'verbose' END
    FROM unified_jobs run CROSS JOIN generate_series(1, 2) n
    WHERE NOT EXISTS (SELECT 1 FROM job_events WHERE job_id = run.id)`);
}

const actorOf = (name: PersonaName): Actor => {
  const { id, username, is_superuser: isSuperuser } = test.as.users[name];
  const isSystemAuditor = test.as.users[name].is_system_auditor === true;
  return { id, username: String(username), isSuperuser: isSuperuser === true, isSystemAuditor };
};

const idsOf = async (statement: Sql): Promise<number[]> =>
  (await test.database.rows<{ id: number }>(statement)).map(({ id }) => id);

/** Returns the ids that the undivided rule permits. */
const shown = (definition: ResourceDefinition, name: PersonaName): Promise<number[]> => {
  const rule = permit(definition.policy, 'list', 't', actorOf(name));
  const kinds = definition.variants
    ? sql`t.type = ANY(${definition.variants().map(({ discriminator }) => discriminator)}::text[])`
    : sql`TRUE`;
  return idsOf(sql`
    SELECT id FROM ${ident(definition.table)} t WHERE ${and(definition.partCondition('t'), rule, kinds)}
    ORDER BY id`);
};

/** Returns all ids of a list, page by page. */
async function walked(name: PersonaName, list: string): Promise<number[]> {
  const ids: number[] = [];
  const separator = list.includes('?') ? '&' : '?';
  for (let next = `${list}${separator}page_size=25`; next;) {
    const { body } = await test.as[name].get(next).expect(200);
    ids.push(...body.results.map(({ id }: Row) => id));
    next = body.next?.replace('/api/v2/', '') ?? '';
  }
  return ids;
}

const LISTS = [
  ...['host', 'job', 'unified_job', 'job_event', 'activity_stream', 'notification'],
  ...['ad_hoc_command', 'project_update', 'workflow_job'],
];
const rising = (one: number, other: number): number => one - other;

async function expectAsShown(type: string, name: PersonaName): Promise<number> {
  const definition = resource(type);
  const list = `${definition.path}/`;
  const expected = await shown(definition, name);
  const { body } = await test.as[name].get(`${list}?order_by=-id`).expect(200);
  const last = await test.as[name].get(`${list}?order_by=id&page=last`).expect(200);
  expect([type, name, body.count, last.body.count]).toEqual([
    ...[type, name, expected.length, expected.length],
  ]);
  expect(body.results.map(({ id }: Row) => id)).toEqual(expected.toReversed().slice(0, 25));
  expect(last.body.results.at(-1)?.id).toBe(expected.at(-1));
  expect(await walked(name, `${list}?order_by=id`)).toEqual(expected);
  const half = expected[Math.floor(expected.length / 2)] ?? 0;
  const later = await walked(name, `${list}?id__gt=${half}`);
  expect(later.toSorted(rising)).toEqual(expected.filter((id) => id > half));
  const none = await test.as[name].get(`${list}?id=0`).expect(200);
  expect(none.body).toMatchObject({ count: 0, next: null, previous: null, results: [] });
  await test.as[name].get(`${list}?page=1000`).expect(404);
  return expected.length;
}

describe('lists of few rows', () => {
  beforeAll(prepare);
  afterAll(() => test.close());

  it('use parts of rules that return the same rows as the rules', async () => {
    const parted: string[] = [];
    for (const definition of resources().filter(({ stored }) => stored)) {
      const { type, policy, table, partCondition } = definition;
      const rule = policy.list ?? policy.read;
      if (armsOf(rule).length < 2) continue;
      parted.push(type);
      for (const actor of PERSONA_NAMES.map(actorOf)) {
        // Callers who may read everything bypass the rules.
        if (actor.isSuperuser || actor.isSystemAuditor) continue;
        const whole = await idsOf(sql`
          SELECT x.id FROM ${ident(table)} x WHERE ${and(partCondition('x'), rule('x', actor))} ORDER BY 1`);
        const heldRoles = await roles.heldBy(actor);
        expect(heldRoles).not.toBeNull();
        // With the roles of the caller in the statement, and with a subquery for them, as for callers with too
        // many roles.
        for (const asking of [actor, { ...actor, ...(heldRoles ? { heldRoles } : {}) }]) {
          const arms = armsOf(rule).map(
            (arm) =>
              sql`SELECT x.id FROM ${ident(table)} x WHERE ${and(partCondition('x'), arm('x', asking))}`,
          );
          const found = await idsOf(sql`${join(arms, ' UNION ')} ORDER BY 1`);
          expect([type, actor.username, found]).toEqual([type, actor.username, whole]);
        }
      }
    }
    expect(parted).toEqual(expect.arrayContaining(['activity_stream', 'job_event', 'unified_job']));
  });

  it.each(LISTS)('return the same rows for %s', async (type) => {
    const counts: number[] = [];
    for (const name of PERSONA_NAMES) counts.push(await expectAsShown(type, name));
    expect(Math.max(...counts)).toBeLessThanOrEqual(FEW_ROWS);
    expect(Math.max(...counts)).toBeGreaterThan(2);
  });
});

describe('lists of many rows', () => {
  beforeAll(async () => {
    await prepare();
    await copy(FEW_ROWS);
  }, 120_000);
  afterAll(() => test.close());

  it.each(LISTS)('return the same rows for %s', async (type) => {
    const counts: number[] = [];
    for (const name of ['superuser', 'orgAdmin', 'teamMember', 'nobody'] as const) {
      counts.push(await expectAsShown(type, name));
    }
    expect(Math.max(...counts)).toBeGreaterThan(FEW_ROWS);
  });
});
