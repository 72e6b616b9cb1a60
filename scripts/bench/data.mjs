import { createTemplate } from './objects.mjs';
import { startServer } from './servers.mjs';
import { caller, withDatabase } from './world.mjs';

/** @typedef {import('./types.d.mts').World} World */

/**
 * Numbers of rows per host.
 *
 * @typedef {object} Proportions
 * @property {number} runs
 * @property {number} events
 * @property {number} deliveries
 * @property {number} notifications
 */

/** @type {Proportions} */
const DEFAULTS = { runs: 2, events: 4, deliveries: 0.5, notifications: 0.5 };
const TEMPLATES = 20;
const OWN_TEMPLATES = 5;
const EVENTS_OF_A_RUN = 200;
/** Number of event partitions at a steady number of runs, docs/decisions/0118. */
const PARTITIONS = 6;
/** Number of rows of one statement. Its triggers count the rows. */
const BATCH = 1_000_000;
/** Number of runs of the only template that a newcomer may execute. */
const FEW_RUNS = 12;
/** Number of runs of a template, and of deliveries, before writes are measured. */
const RUNS_BEFORE = 10_000;
const LONG_TABLES = [
  'hosts',
  'unified_jobs',
  'job_events',
  'activity_stream',
  'webhook_deliveries',
  'notifications',
];

/**
 * Fills tables like those of an installation of some age: `rows` hosts, most of them in one inventory, as
 * many entries of activity, and runs with events, deliveries and notifications in proportion to them. A team
 * member may read that inventory and execute five templates; a newcomer may execute one that ran a few times;
 * an outsider may read no rows.
 *
 * @param {World} world
 * @param {string} main program of the API
 * @param {number} rows
 * @param {Proportions} [proportions]
 */
export async function seed(world, main, rows, proportions = DEFAULTS) {
  const server = await startServer(main, world.environment);
  const made = await createObjects(world, caller(server.url, world.admin));
  await server.stop();
  const objects = await withDatabase(world.environment.DATABASE_URL, async (client) => {
    const restore = await dropDerived(client);
    const organization = `CASE WHEN n % 2 = 0 THEN ${made.organization} END`;
    const past = runs(rows * proportions.runs, templateOf(made), organization);
    for (const statement of [...past, fewRuns(made.young)]) await client.query(statement);
    await addPartitions(client);
    for (const statement of otherRows(made, rows, proportions)) await client.query(statement);
    for (const statement of restore) await client.query(statement);
    await client.query('VACUUM ANALYZE');
    const { rows: found } = await client.query(
      `SELECT (SELECT min(id) FROM hosts WHERE inventory_id = $1) AS host,
        (SELECT min(id) FROM unified_jobs WHERE name LIKE 'run-%') AS job,
        (SELECT min(id) FROM teams) AS team`,
      [made.inventory],
    );
    return { ...made, ...found[0] };
  });
  const tokenOf = async (/** @type {string} */ username) =>
    (await world.cli('create-token', '--username', username)).trim();
  const member = await tokenOf('member');
  const newcomer = await tokenOf('newcomer');
  const outsider = await tokenOf('outsider');
  return { objects, member, newcomer, outsider };
}

/**
 * Adds runs and deliveries to one template, so that writes are not measured in empty tables. A connection
 * that plans the look-up of a reference while the table is empty scans the table from then on: autovacuum,
 * after which the connection would plan again, is disabled.
 *
 * @param {World} world
 * @param {number} template
 */
export const seedTemplate = ({ environment }, template) =>
  withDatabase(environment.DATABASE_URL, async (client) => {
    const statements = [
      ...runs(RUNS_BEFORE, template, 'NULL'),
      ...deliveries(RUNS_BEFORE, template),
    ];
    for (const statement of statements) await client.query(statement);
    await client.query('VACUUM ANALYZE');
  });

/**
 * Drops the foreign keys of long tables, and the indexes without constraints: creating them again is much
 * faster than checking and growing them row by row.
 *
 * @param {import('pg').Client} client
 * @returns {Promise<string[]>} statements that create them again
 */
async function dropDerived(client) {
  const { rows } = await client.query(
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS dropped,
       pg_get_indexdef(indexrelid) AS made
     FROM pg_index WHERE NOT indisunique AND indrelid = ANY($1::regclass[])
     UNION ALL
     SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
         pg_get_constraintdef(oid))
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY($1::regclass[])`,
    [LONG_TABLES],
  );
  for (const { dropped } of rows) await client.query(dropped);
  // The definition of a partitioned index excludes its partitions.
  return rows.map(({ made }) => made.replace(' ON ONLY ', ' ON '));
}

/**
 * Creates the partitions that a worker creates over time, for the existing runs and as many as in the last
 * partition.
 *
 * @param {import('pg').Client} client
 */
async function addPartitions(client) {
  const { rows } = await client.query(`
    SELECT max(upper) AS first, (SELECT max(id) FROM unified_jobs) AS last FROM job_event_ranges()`);
  const [first, last] = [Number(rows[0].first), Number(rows[0].last)];
  if (last < first) return;
  const size = Math.ceil((last + 1 - first) / (PARTITIONS - 1));
  for (let number = 0; number < PARTITIONS; number++) {
    const start = first + number * size;
    await client.query(`CREATE TABLE job_events_from_${start} PARTITION OF job_events
      FOR VALUES FROM (${start}) TO (${start + size})`);
  }
}

/**
 * @param {World} world
 * @param {import('./types.d.mts').Call} call
 */
async function createObjects(world, call) {
  const { template } = await createTemplate(world, call);
  const organization = await call('POST', 'organizations/', { name: 'Bench' });
  const inventory = await call('POST', 'inventories/', {
    name: 'Big',
    organization: organization.id,
  });
  const small = await call('POST', 'inventories/', {
    name: 'Small',
    organization: organization.id,
  });
  const ids = [];
  for (let number = 0; number < TEMPLATES; number++) {
    const name = `Template ${number}`;
    ids.push((await call('POST', `job_templates/${template.id}/copy/`, { name })).id);
  }
  const notifier = await call('POST', 'notification_templates/', {
    name: 'Bench',
    organization: organization.id,
    notification_type: 'webhook',
    notification_configuration: { url: 'http://127.0.0.1/', http_method: 'POST', headers: {} },
  });
  const team = await call('POST', 'teams/', { name: 'Members', organization: organization.id });
  const user = await call('POST', 'users/', { username: 'member', password: 'member-of-a-team' });
  await call('POST', `teams/${team.id}/users/`, { id: user.id });
  await call('POST', 'users/', { username: 'outsider', password: 'member-of-no-team' });
  const young = await call('POST', `job_templates/${template.id}/copy/`, { name: 'Young' });
  const newcomer = await call('POST', 'users/', {
    username: 'newcomer',
    password: 'newcomer-of-today',
  });
  const { object_roles: youngRoles } = (await call('GET', `job_templates/${young.id}/`))
    .summary_fields;
  await call('POST', `users/${newcomer.id}/roles/`, { id: youngRoles.execute_role.id });
  const grant = async (/** @type {string} */ path, /** @type {string} */ role) => {
    const { object_roles: roles } = (await call('GET', path)).summary_fields;
    await call('POST', `teams/${team.id}/roles/`, { id: roles[role].id });
  };
  await grant(`inventories/${inventory.id}/`, 'read_role');
  for (const id of ids.slice(0, OWN_TEMPLATES)) await grant(`job_templates/${id}/`, 'execute_role');
  return {
    inventory: inventory.id,
    small: small.id,
    organization: organization.id,
    template: ids[0],
    firstTemplate: ids[0],
    notifier: notifier.id,
    young: young.id,
  };
}

/** @typedef {{ inventory: number, small: number, organization: number, firstTemplate: number,
 *   notifier: number, young: number }} Made */

const templateOf = (/** @type {Made} */ { firstTemplate }) => `${firstTemplate} + n % ${TEMPLATES}`;
/** Number with seven digits or more. */
const NUMBER = "lpad(n::text, greatest(7, length(n::text)), '0')";
const series = (/** @type {number} */ count) => `generate_series(1, ${Math.ceil(count)}) n`;
const ago = (/** @type {string} */ seconds) =>
  `now() - interval '30 days' + (${seconds}) * interval '1 second'`;

/**
 * @param {number} count
 * @param {string} statement without the source of its numbers `n`
 */
function batches(count, statement) {
  const all = Math.ceil(count);
  return Array.from({ length: Math.ceil(all / BATCH) }, (_, batch) => {
    const last = Math.min(all, (batch + 1) * BATCH);
    return `${statement} generate_series(${batch * BATCH + 1}, ${last}) n`;
  });
}

/**
 * @param {number} count
 * @param {string | number} template SQL of its id
 * @param {string} organization SQL of its id
 */
const runs = (count, template, organization) =>
  batches(
    count,
    `INSERT INTO unified_jobs (type, name, status, failed, created, started, finished, elapsed,
       launch_type, unified_job_template_id, job_template_id, organization_id, job_type, playbook, extra_vars)
     SELECT 'job', 'run-' || ${NUMBER},
       CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'successful' END, n % 10 = 0,
       ${ago('n')}, ${ago('n + 2')}, ${ago('n + 2 + n % 600')}, n % 600,
       'manual', ${template}, ${template}, ${organization}, 'run', 'site.yml', '{}' FROM`,
  );

/** @param {number} young template with few runs */
const fewRuns = (young) =>
  `INSERT INTO unified_jobs (type, name, status, created, started, finished, launch_type,
     unified_job_template_id, job_template_id, job_type, playbook, extra_vars)
   SELECT 'job', 'young-' || n, 'successful', ${ago('n * 86400')}, ${ago('n * 86400')},
     ${ago('n * 86400')}, 'manual', ${young}, ${young}, 'run', 'site.yml', '{}'
   FROM ${series(FEW_RUNS)}`;

/**
 * @param {number} count
 * @param {string | number} template SQL of its id
 */
const deliveries = (count, template) =>
  batches(
    count,
    `INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, verdict, answer, size,
       source, payload, received, dedupe_key)
     SELECT ${template}, 'service_a', 'push', 'guid-' || n, 'main', 'ignored', 200, 100, '127.0.0.1',
       '{}', ${ago('n')}, 'guid:' || n FROM`,
  );

/**
 * @param {Made} made
 * @param {number} rows
 * @param {Proportions} proportions
 */
function otherRows(made, rows, proportions) {
  const { inventory, small, organization, notifier } = made;
  const { runs: runsPerHost, events, notifications } = proportions;
  const template = templateOf(made);
  // Spreads the runs with events over all runs.
  const distance = Math.floor((EVENTS_OF_A_RUN * runsPerHost) / events);
  return [
    ...batches(
      rows,
      `INSERT INTO hosts (name, inventory_id, variables, created)
     SELECT 'host-' || ${NUMBER}, CASE WHEN n % 26 = 0 THEN ${small} ELSE ${inventory} END,
       'rack: ' || n % 40, ${ago('n')} FROM`,
    ),
    `INSERT INTO groups (name, inventory_id) SELECT 'group-' || n, ${inventory} FROM ${series(1000)}`,
    `INSERT INTO teams (name, organization_id) SELECT 'team-' || n, ${organization} FROM ${series(500)}`,
    `INSERT INTO roles (content_type, object_id, role_field)
     SELECT 'team', t.id, field FROM teams t
     CROSS JOIN unnest(ARRAY['admin_role', 'member_role', 'read_role']) field
     ON CONFLICT DO NOTHING`,
    ...batches(
      rows * events,
      `INSERT INTO job_events (job_id, event, counter, uuid, host_name, stdout, created, start_line, end_line)
     SELECT j.first + (n - 1) / ${EVENTS_OF_A_RUN} * ${distance}, 'runner_on_ok', (n - 1) % ${EVENTS_OF_A_RUN} + 1,
       'event-' || n, 'host', 'ok: [host]', ${ago(`n / ${events} * ${runsPerHost}`)},
       n % ${EVENTS_OF_A_RUN}, n % ${EVENTS_OF_A_RUN} + 1
     FROM (SELECT min(id) AS first FROM unified_jobs) j,`,
    ),
    `INSERT INTO job_events (job_id, event, counter, uuid)
     SELECT id, 'verbose', n, name || '-' || n FROM unified_jobs, generate_series(1, 5) n
     WHERE name LIKE 'young-%'`,
    ...batches(
      rows,
      `INSERT INTO activity_stream (operation, object1, object1_id, object1_name, organization_id,
       changes, timestamp)
     SELECT 'update', 'job_template', ${template}, 'Template', ${organization}, '{"name": ["a", "b"]}',
       ${ago('n')} FROM`,
    ),
    ...deliveries(rows * proportions.deliveries, template),
    ...batches(
      rows * notifications,
      `INSERT INTO notifications (notification_template_id, status, notification_type, created, modified)
     SELECT ${notifier}, CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'successful' END, 'webhook', ${ago('n')},
       ${ago('n')} FROM`,
    ),
  ];
}
