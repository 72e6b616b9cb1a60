/**
 * What long lists are filtered and ordered by is found in an index: a table of more than ten thousand
 * rows is not read from end to end (docs/decisions/0073-indexes-by-what-lists-offer.md). Sequential
 * scans are made dear, so that one is planned only where nothing else is possible.
 */
import type { QueryResult } from 'pg';

import { RoleStore, type Actor } from '../../src/common/access.js';
import type { Field } from '../../src/common/fields/field.js';
import { ListService } from '../../src/common/list/list.service.js';
import type { QueryParameters } from '../../src/common/list/query.js';
import { resource } from '../../src/common/resource/registry.js';
import type { Statement } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { openFields, valueOf } from '../architecture/declared-queries.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const ROWS = 10_500;
const ADMIN: Actor = { id: 1, username: 'admin', isSuperuser: true, isSystemAuditor: false };

/** Lists by what one of their rows is; `unified_job` lists the rows of several. */
const FILLED = [
  ...['host', 'group', 'job', 'job_event', 'activity_stream', 'webhook_delivery', 'notification'],
];
const LISTS = [...FILLED, 'unified_job'];

const WRITTEN = 'modified created_by modified_by';
const RUN = `${WRITTEN} name description launch_type failed started canceled_on elapsed job_explanation
  execution_node controller_node schedule`;

/** Fields without an index, since it would cost every write of a row, and why they do without. */
const EXCUSED: Readonly<Record<string, { because: string; fields: string }>> = {
  host: {
    because: 'asked for within an inventory; ids go with creation',
    fields: `${WRITTEN} created description enabled instance_id variables has_active_failures last_job
      last_job_host_summary ansible_facts_modified`,
  },
  group: {
    because: 'asked for within an inventory; ids go with creation',
    fields: `${WRITTEN} created description variables`,
  },
  job: {
    because: 'read of a run, not looked for; names are found by their parts',
    fields: `${RUN} job_cwd result_traceback event_processing_finished job_type playbook scm_branch forks
      limit verbosity job_tags force_handlers skip_tags start_at_task timeout use_fact_cache
      become_enabled allow_simultaneous diff_mode scm_revision isolation project_update
      job_slice_number job_slice_count webhook_service webhook_credential webhook_guid`,
  },
  unified_job: {
    because: 'read of a run, not looked for; names are found by their parts',
    fields: RUN,
  },
  job_event: {
    because: 'asked for within a run, and stored by the thousands a second',
    fields: `created modified event counter event_display event_level failed changed uuid parent_uuid
      host_name playbook play task role stdout start_line end_line verbosity search`,
  },
  activity_stream: {
    because: 'each is of most entries; ids go with time, and what changed is a document',
    fields: 'operation object_association object_type action_node search',
  },
  webhook_delivery: {
    because: 'listed below a template alone, by id',
    fields: `received service event guid ref ref_name head_ref verdict reason answer size source repeats
      search`,
  },
  notification: {
    because: 'asked for within a template or a run',
    fields: `modified error notifications_sent notification_type recipients subject event attempts
      next_attempt_at resend_of search`,
  },
};

let test: TestApp;
let lists: ListService;
/** Names of indexes that hold some rows alone. */
let partial: ReadonlySet<string>;
beforeAll(async () => {
  test = await boot();
  lists = test.app.get(ListService, { strict: false });
  const samples = new Samples(test);
  const roles = test.app.get(RoleStore, { strict: false });
  for (const type of FILLED) {
    await multiply(test.database, roles, type, await samples.of(type), ROWS);
  }
  await test.database.execute({ text: 'VACUUM ANALYZE' });
  const indexes = await test.database.rows<{ name: string }>(sql`
    SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL`);
  partial = new Set(indexes.map(({ name }) => name));
}, 120_000);
afterAll(() => test.close());

const NOTHING: QueryResult = { rows: [], rowCount: 0, command: 'SELECT', oid: 0, fields: [] };

/** Statements that reading a list sends, as long as nothing is found. */
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

/** What a node reads, that which was found beforehand included. */
const readBy = (node: Plan, whole: Plan): Plan[] => {
  const names = nodesOf(node).flatMap(({ 'CTE Name': name }) => (name ? [`CTE ${name}`] : []));
  const found = nodesOf(whole).filter(({ 'Subplan Name': name = '' }) => names.includes(name));
  return [node, ...found].flatMap(nodesOf);
};

/** Whether an index picks rows by more than their kind, which most rows of a table may be of. */
const isPicked = (nodes: readonly Plan[]): boolean =>
  nodes.some(({ 'Index Name': index = '', 'Index Cond': condition = '' }) => {
    const columns = condition.matchAll(/\(+(?:\w+\.)?"?(\w+)"? (?:=|<|>|~|IS)/g);
    return partial.has(index) || [...columns].some(([, column]) => column !== 'type');
  });

/** Whether a table is read from end to end, or all of it is sorted. */
const isWhole = (plan: Plan, table: string): boolean =>
  nodesOf(plan).some(
    (node) =>
      (node['Node Type'] === 'Seq Scan' && node['Relation Name'] === table) ||
      (node['Node Type'] === 'Sort' && !isPicked(readBy(node, plan))),
  );

/** Whether a list reads its whole table for a query. */
async function isScanned(type: string, query: QueryParameters): Promise<boolean> {
  const { table } = resource(type);
  for (const statement of await sent(type, query)) {
    const { text, values = [] } = 'toQuery' in statement ? statement.toQuery() : statement;
    // What sets the time limit of costly lists reads nothing.
    if (text.startsWith('SET ')) continue;
    const explained = await test.database.row<{ 'QUERY PLAN': { Plan: Plan }[] }>({
      text: `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    });
    if (explained?.['QUERY PLAN'].some(({ Plan: plan }) => isWhole(plan, table))) return true;
  }
  return false;
}

/** A descending order reads the same index backwards; these rows are copies, which it would sort. */
const queriesOf = (field: Field): QueryParameters[] => [
  { [`${field.name}__exact`]: field.kind === 'json' ? '{}' : String(valueOf(field)) },
  { order_by: field.name },
];

it.each(LISTS)(
  'lists of %s',
  async (type) => {
    const faults = new Set<string>();
    await test.database.transaction(async () => {
      await test.database.execute(sql`SET LOCAL enable_seqscan = off`);
      for (const field of openFields(resource(type))) {
        for (const query of queriesOf(field)) {
          if (await isScanned(type, query)) faults.add(field.name);
        }
      }
      if (await isScanned(type, { search: 'rarely' })) faults.add('search');
    });
    const excused = new Set(EXCUSED[type]?.fields.split(/\s+/));
    expect([...faults].filter((name) => !excused.has(name))).toEqual([]);
  },
  120_000,
);
