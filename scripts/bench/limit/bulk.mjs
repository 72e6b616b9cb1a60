/** Bulk operations: one statement each, token, permission and activity included. */

/** @typedef {import('./routes.d.mts').Write} Write */

const IS_ADMIN = `(
  SELECT u.is_superuser FROM tokens k JOIN users u ON u.id = k.user_id
  WHERE k.digest = $1 AND (k.expires IS NULL OR k.expires > now()))`;

const WHO = `who AS (
  SELECT u.id, u.username FROM tokens k JOIN users u ON u.id = k.user_id
  WHERE k.digest = $1 AND (k.expires IS NULL OR k.expires > now()) AND u.is_superuser)`;

/** @param {string} source query of `type`, `id`, `name`, `organization`, `changes` */
const log = (source) => `logged AS (
  INSERT INTO activity_stream (operation, object1, object1_id, object1_name, organization_id,
    changes, actor_id, actor_snapshot)
  SELECT entry.operation, entry.type, entry.id, entry.name, entry.organization_id, entry.changes, who.id,
    json_build_object('username', who.username)
  FROM (${source}) entry, who)`;

const CREATE = `
  WITH ${WHO},
  written AS (
    INSERT INTO hosts (inventory_id, name, variables)
    SELECT i.id, given.name, given.variables
    FROM inventories i, unnest($3::text[], $4::text[]) AS given (name, variables)
    WHERE i.id = $2 AND NOT i.pending_deletion AND ${IS_ADMIN}
    RETURNING id, name, description, enabled, instance_id, variables),
  ${log(`SELECT 'update' AS operation, 'inventory' AS type, i.id, i.name, i.organization_id,
      json_build_object('hosts_added', cardinality($3::text[])) AS changes
    FROM inventories i WHERE i.id = $2`)}
  SELECT * FROM written`;

/** @type {Write} */
async function createHosts({ digest, body }, pool) {
  const { inventory, hosts } = JSON.parse(body.toString());
  const { rows } = await pool.query({
    name: 'create',
    text: CREATE,
    values: [
      digest,
      inventory,
      hosts.map((/** @type {{ name: string }} */ { name }) => name),
      hosts.map((/** @type {{ variables: string }} */ { variables }) => variables),
    ],
  });
  const created = rows.map((row) => ({ ...row, url: `/api/v2/hosts/${row.id}/`, inventory }));
  return { status: 201, body: { url: `/api/v2/inventories/${inventory}/`, hosts: created } };
}

const DELETE = `
  WITH ${WHO},
  deleted AS (
    DELETE FROM hosts WHERE id = ANY($2::int[]) AND ${IS_ADMIN} RETURNING id, name, inventory_id),
  ${log(`SELECT 'update' AS operation, 'inventory' AS type, i.id, i.name, i.organization_id,
      json_build_object('hosts_deleted', json_agg(
        json_build_object('host_id', deleted.id, 'host_name', deleted.name))) AS changes
    FROM deleted JOIN inventories i ON i.id = deleted.inventory_id GROUP BY i.id`)}
  SELECT id, name FROM deleted`;

/** @type {Write} */
async function deleteHosts({ digest, body }, pool) {
  const { hosts: ids } = JSON.parse(body.toString());
  const { rows } = await pool.query({ name: 'delete', text: DELETE, values: [digest, ids] });
  const hosts = Object.fromEntries(
    rows.map(({ id, name }) => [id, `The host ${name} was deleted`]),
  );
  return { status: 201, body: { deleted: rows.length, hosts } };
}

const LAUNCH = `
  WITH ${WHO},
  run AS (
    INSERT INTO unified_jobs (type, status, is_bulk_job, name, launch_type, created_by_id,
      modified_by_id, launch_config)
    SELECT 'workflow_job', 'pending', true, $2, 'manual', who.id, who.id, '{}' FROM who
    RETURNING *),
  nodes AS (
    INSERT INTO workflow_job_nodes (workflow_job_id, unified_job_template_id, identifier)
    SELECT run.id, t.id, gen_random_uuid()::text
    FROM run, unnest($3::int[]) AS given (id) JOIN unified_job_templates t ON t.id = given.id),
  ${log(`SELECT 'create' AS operation, 'workflow_job' AS type, run.id, run.name,
    NULL::int AS organization_id, json_build_object('id', run.id, 'name', run.name) AS changes FROM run`)}
  SELECT * FROM run`;

/** @type {Write} */
async function launchJobs({ digest, body }, pool) {
  const { name, jobs } = JSON.parse(body.toString());
  const { rows } = await pool.query({
    name: 'launch',
    text: LAUNCH,
    values: [
      digest,
      name,
      jobs.map((/** @type {{ unified_job_template: number }} */ job) => job.unified_job_template),
    ],
  });
  const [{ id, created, modified, status }] = rows;
  const url = `/api/v2/workflow_jobs/${id}/`;
  return { status: 201, body: { id, type: 'workflow_job', url, name, created, modified, status } };
}

/** @type {() => [string, Write][]} */
export const bulkRoutes = () => [
  ['/api/v2/bulk/host_create/', createHosts],
  ['/api/v2/bulk/host_delete/', deleteHosts],
  ['/api/v2/bulk/job_launch/', launchJobs],
];
