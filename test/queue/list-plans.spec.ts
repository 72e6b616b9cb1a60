/**
 * Filters and orders of long lists use an index: a table of more than ten thousand rows is not scanned
 * (docs/decisions/0073-indexes.md). Sequential scans are made expensive, so that the planner uses one only if
 * there is no alternative.
 */
import type { QueryResult } from 'pg';

import { RoleStore, type Actor } from '../../src/common/access.js';
import type { Field } from '../../src/common/fields/field.js';
import { ListService } from '../../src/common/list/list.service.js';
import type { QueryParameters } from '../../src/common/list/query.js';
import { resource, type ResourceDefinition } from '../../src/common/resource/define-resource.js';
import type { Statement } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { openFields, valueOf } from '../architecture/declared-queries.js';
import { boot, type TestApp } from '../support/boot.js';
import { partsOf } from '../support/parts.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const ROWS = 10_500;
const ADMIN: Actor = { id: 1, username: 'admin', isSuperuser: true, isSystemAuditor: false };

/** Lists by the type of their rows. `unified_job` lists the rows of several types. */
const FILLED = [
  ...['host', 'group', 'job', 'job_event', 'activity_stream', 'webhook_delivery', 'notification'],
];
const LISTS = [...FILLED, 'unified_job'];

/** Fields whose kind needs no index, unless one is declared. */
const RULES: readonly { because: string; filters: boolean; has: (field: Field) => boolean }[] = [
  {
    because:
      'texts and documents have any length; they are looked for by their parts, or not at all',
    filters: true,
    has: ({ kind }) => ['text', 'json', 'variables'].includes(kind),
  },
  {
    because: 'most rows share a few values: an index would lead to a large part of the table',
    filters: true,
    has: ({ kind }) => ['boolean', 'choice', 'integer', 'float'].includes(kind),
  },
  {
    because: 'references are followed; their ids are an order of nothing',
    filters: false,
    has: ({ target }) => target !== null,
  },
];

interface Excuse {
  because: string;
  /**
   * Names of fields without an index, because one would slow every write: filters read all rows, orders sort
   * them all.
   */
  fields: string;
  /** Names of fields whose index serves filters but not orders: it has only some rows, or parts of texts. */
  orders?: string;
  /** Names of fields with a filter that reads all rows. */
  filters?: string;
}

const OF_RUNS = { fields: 'modified canceled_on controller_node', orders: 'failed execution_node' };

/** Other fields without an index. */
const EXCUSED: Readonly<Record<string, Excuse>> = {
  host: {
    because: 'asked for by inventory plugins, one at a time',
    fields: 'instance_id ansible_facts_modified',
  },
  job: {
    because: 'read of a run, not looked for',
    fields: `${OF_RUNS.fields} scm_branch scm_revision webhook_guid`,
    orders: `${OF_RUNS.orders} playbook`,
  },
  unified_job: { because: 'read of a run, not looked for', ...OF_RUNS },
  job_event: {
    because: 'asked for within a run, and stored by the thousands a second',
    fields: 'modified event event_display uuid parent_uuid host_name playbook play task role',
    filters: 'search',
  },
  activity_stream: {
    because: 'each is of most entries, and what changed is a document',
    fields: 'object_association object_type action_node',
    filters: 'search',
  },
  webhook_delivery: {
    because: 'asked for within a template, by time, verdict, event or guid',
    fields: 'ref ref_name head_ref source',
    filters: 'search',
  },
  notification: {
    because: 'asked for within a template or a run',
    fields: 'modified event',
    orders: 'next_attempt_at',
    filters: 'search',
  },
};

let test: TestApp;
let lists: ListService;
/** Names of partial indexes. */
let partial: ReadonlySet<string>;
beforeAll(async () => {
  test = await boot();
  lists = test.app.get(ListService, { strict: false });
  const samples = new Samples(test);
  const roles = test.app.get(RoleStore, { strict: false });
  for (const type of FILLED) {
    await multiply(test.database, roles, type, await samples.of(type), ROWS);
  }
  // Copied events belong to the run of the original.
  await test.database.execute(sql`
    UPDATE job_events event SET job_id = run.id
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM unified_jobs WHERE type = 'job') run
    WHERE run.place = event.counter / 10 + 1`);
  await test.database.execute({ text: 'VACUUM ANALYZE' });
  const indexes = await test.database.rows<{ name: string }>(sql`
    SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL`);
  partial = new Set(indexes.map(({ name }) => name));
});
afterAll(() => test.close());

const NOTHING: QueryResult = { rows: [], rowCount: 0, command: 'SELECT', oid: 0, fields: [] };

/** Returns the statements of a list whose queries all return no rows. */
async function sent(type: string, query: QueryParameters): Promise<Statement[]> {
  const statements: Statement[] = [];
  const run = jest.spyOn(test.database, 'run').mockImplementation((statement) => {
    statements.push(statement);
    return Promise.resolve(NOTHING);
  });
  try {
    await lists.list(resource(type), query, ADMIN);
  } finally {
    run.mockRestore();
  }
  return statements;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Subplan Name'?: string;
  'CTE Name'?: string;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Returns the node and its descendants, including the CTEs that it scans. */
const readBy = (node: Plan, whole: Plan): Plan[] => {
  const names = nodesOf(node).flatMap(({ 'CTE Name': name }) => (name ? [`CTE ${name}`] : []));
  const found = nodesOf(whole).filter(({ 'Subplan Name': name = '' }) => names.includes(name));
  return [node, ...found].flatMap(nodesOf);
};

/** Returns true if an index selects rows by more than their type, which most rows of a table may share. */
const isPicked = (nodes: readonly Plan[]): boolean =>
  nodes.some(({ 'Index Name': index = '', 'Index Cond': condition = '' }) => {
    const columns = condition.matchAll(/\(+(?:\w+\.)?"?(\w+)"? (?:=|<|>|~|IS)/g);
    return partial.has(index) || [...columns].some(([, column]) => column !== 'type');
  });

/** Returns true if the plan scans a whole table, or sorts or counts all its rows or all rows of a type. */
const isWhole = (plan: Plan, parts: ReadonlySet<string | undefined>): boolean =>
  nodesOf(plan).some((node) => {
    if (node['Node Type'] === 'Seq Scan') return parts.has(node['Relation Name']);
    const read = readBy(node, plan);
    const isOfTable = read.some(({ 'Relation Name': name }) => parts.has(name));
    return ['Sort', 'Aggregate'].includes(node['Node Type']) && isOfTable && !isPicked(read);
  });

/** Returns true if a list reads its whole table for a query. */
async function isScanned(type: string, query: QueryParameters): Promise<boolean> {
  const parts = await partsOf(test.database, resource(type).table);
  for (const statement of await sent(type, query)) {
    const { text, values = [] } = 'toQuery' in statement ? statement.toQuery() : statement;
    // The statement that sets the timeout of costly lists reads nothing.
    if (text.startsWith('SET ')) continue;
    const explained = await test.database.row<{ 'QUERY PLAN': { Plan: Plan }[] }>({
      text: `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    });
    if (explained?.['QUERY PLAN'].some(({ Plan: plan }) => isWhole(plan, parts))) return true;
  }
  return false;
}

const filterOf = ({ name, kind }: Field, value: unknown): QueryParameters => ({
  [`${name}__exact`]: kind === 'json' ? '{}' : String(value),
});

const wordsOf = (text = ''): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Returns the names of the excused filters and orders. */
function excusedOf(type: string): string[] {
  const { fields, orders, filters } = EXCUSED[type] ?? {};
  const ordered = [...wordsOf(fields), ...wordsOf(orders)].map((name) => `order by ${name}`);
  return [...wordsOf(fields), ...wordsOf(filters), ...ordered].sort();
}

/** Returns true if a declared index starts with the field, or contains only the rows where it is true. */
function isIndexed({ table }: ResourceDefinition, { column }: Field): boolean {
  const { indices } = test.database.dataSource.getMetadata(table);
  return (
    column === 'id' ||
    indices.some(({ columns, where }) => {
      const [first] = columns.flatMap(({ databaseName: name }) => (name === 'type' ? [] : [name]));
      return column === first || column === where;
    })
  );
}

/** Returns the filter and order of a field that the rules of its kind excuse. */
function ruledOut(definition: ResourceDefinition, field: Field): string[] {
  const rules = RULES.filter((rule) => rule.has(field));
  const fitting = rules.filter(({ filters }) => !filters || !isIndexed(definition, field));
  const isFiltered = fitting.some(({ filters }) => filters);
  return [
    ...(isFiltered ? [field.name] : []),
    ...(fitting.length > 0 ? [`order by ${field.name}`] : []),
  ];
}

it.each(LISTS)(
  'lists of %s have fast plans',
  async (type) => {
    const faults = new Set<string>();
    const definition = resource(type);
    await test.database.transaction(async () => {
      await test.database.execute(sql`SET LOCAL enable_seqscan = off`);
      for (const field of openFields(definition)) {
        const ruled = ruledOut(definition, field);
        const faultOf = async (name: string, query: QueryParameters): Promise<void> => {
          if (!ruled.includes(name) && (await isScanned(type, query))) faults.add(name);
        };
        await faultOf(field.name, filterOf(field, valueOf(field)));
        // A descending order reads the same index backwards. The rows here are copies, which it would sort.
        await faultOf(`order by ${field.name}`, { order_by: field.name });
      }
      if (await isScanned(type, { search: 'rarely' })) faults.add('search');
    });
    expect([...faults].sort()).toEqual(excusedOf(type));
  },
  120_000,
);

it.each([
  ['host', { jobs__isnull: 'true' }],
  ['host', { not__jobs__name: 'x' }],
  ['unified_job', { hosts__isnull: 'true' }],
  ['unified_job', { not__credentials__name: 'x' }],
  ['unified_job', { order_by: 'job__job_template__name' }],
  ['activity_stream', { role__isnull: 'true' }],
  ['job_event', { not__job__unified_job_template__name: 'x' }],
] as const)('a list of each %s is filtered by %j within the time limit', async (type, query) => {
  const { count } = await lists.list(resource(type), query, ADMIN);
  expect(count).toBeGreaterThanOrEqual(ROWS);
});
