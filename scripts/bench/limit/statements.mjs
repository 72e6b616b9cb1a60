/** Minimal statements for a page of a list or an object, which include the token and the permission. */

/** @typedef {import('./routes.d.mts').Read} Read */
/** @typedef {{ type: string | null, fields: string, table?: string, parent?: [string, string],
 *   visible?: [string, string, string] }} Table */

const NAMED = 'id created modified name description';
const RUN = `${NAMED} unified_job_template launch_type status failed started finished canceled_on
  elapsed job_explanation execution_node controller_node organization`;

/**
 * Fields of the rows by the names of the contract, the object of the summary, and the role on an object that
 * makes a row visible.
 */
export const TABLES = /** @satisfies {Record<string, Table>} */ ({
  hosts: {
    type: 'host',
    fields: `${NAMED} inventory enabled instance_id variables has_active_failures last_job
      last_job_host_summary`,
    parent: ['inventory', 'inventories'],
    visible: ['inventory_id', 'inventory', 'read_role'],
  },
  groups: {
    type: 'group',
    fields: `${NAMED} inventory variables`,
    parent: ['inventory', 'inventories'],
  },
  teams: {
    type: 'team',
    fields: `${NAMED} organization`,
    parent: ['organization', 'organizations'],
  },
  inventories: {
    type: 'inventory',
    fields: `${NAMED} organization kind variables total_hosts total_groups`,
    parent: ['organization', 'organizations'],
  },
  job_templates: {
    type: 'job_template',
    table: 'unified_job_templates',
    fields: `${NAMED} organization inventory project playbook job_type forks verbosity extra_vars
      status last_job_run last_job_failed webhook_service`,
    parent: ['organization', 'organizations'],
    visible: ['id', 'job_template', 'read_role'],
  },
  jobs: {
    type: 'job',
    table: 'unified_jobs',
    fields: `${RUN} job_type inventory project playbook scm_branch forks verbosity extra_vars
      job_tags force_handlers skip_tags start_at_task timeout use_fact_cache become_enabled
      allow_simultaneous diff_mode scm_revision job_slice_number job_slice_count webhook_service
      webhook_guid`,
    parent: ['unified_job_template', 'unified_job_templates'],
    visible: ['unified_job_template_id', 'job_template', 'read_role'],
  },
  unified_jobs: {
    type: null,
    fields: RUN,
    parent: ['unified_job_template', 'unified_job_templates'],
  },
  job_events: {
    type: 'job_event',
    fields: `id created modified job event counter failed changed uuid parent_uuid host host_name
      playbook play task role start_line end_line verbosity`,
    parent: ['job', 'unified_jobs'],
  },
  activity_stream: {
    type: 'activity_stream',
    fields: 'id timestamp operation changes object1 object2 object_association',
  },
  webhook_deliveries: {
    type: 'webhook_delivery',
    fields: 'id received service event guid ref verdict reason answer job size source',
    parent: ['template', 'unified_job_templates'],
  },
  notifications: {
    type: 'notification',
    fields: 'id created modified notification_template status error notifications_sent subject',
    parent: ['notification_template', 'notification_templates'],
  },
});

const REFERENCES = new Set(
  `inventory last_job last_job_host_summary organization project
   unified_job_template job host template notification_template`.split(/\s+/),
);

const TOKEN = 'k.digest = $1 AND (k.expires IS NULL OR k.expires > now())';
const IS_ADMIN = `(
  SELECT u.is_superuser FROM tokens k JOIN users u ON u.id = k.user_id WHERE ${TOKEN})`;

/** @param {Table} table */
const isVisible = ({ visible: [column, type, role] = ['', '', ''] }) => `t.${column} IN (
  SELECT a.object_id FROM tokens k JOIN role_members m ON m.user_id = k.user_id
  JOIN role_ancestors a ON a.ancestor_id = m.role_id
  WHERE ${TOKEN} AND a.content_type = '${type}' AND a.role_field = '${role}')`;

/** @param {Table} table */
function columnsOf({ fields, parent }) {
  const own = fields
    .split(/\s+/)
    .map((name) => (REFERENCES.has(name) ? `t.${name}_id AS ${name}` : `t.${name}`));
  return [...own, ...(parent ? ['p.id AS parent_id, p.name AS parent_name'] : [])].join(', ');
}

/** @param {Table} table */
const joinOf = ({ parent }) =>
  parent ? `LEFT JOIN ${parent[1]} p ON p.id = t.${parent[0]}_id` : '';

/**
 * Returns a function that converts a row to its representation.
 *
 * @param {keyof typeof TABLES} name
 * @param {Table} table
 */
const representationOf = (name, { type, parent }) => {
  return (/** @type {Record<string, unknown>} */ row) => {
    const { parent_id: parentId, parent_name: parentName, ...own } = row;
    delete own.count;
    const hasParent = parent && parentId !== null;
    return {
      ...own,
      ...(type === null ? {} : { type, url: `/api/v2/${name}/${own.id}/` }),
      summary_fields: hasParent ? { [parent[0]]: { id: parentId, name: parentName } } : {},
    };
  };
};

/**
 * Returns the statement for a page of a list.
 *
 * @param {keyof typeof TABLES} name
 * @param {string} path without `/api/v2/`
 * @param {{ where?: string, order?: string, size?: number, counted?: boolean, member?: boolean,
 *   matches?: string }} options `where`, `order` and `matches` are SQL about `t`; `matches` finds few rows by an
 *   index, and is evaluated once
 * @returns {Read}
 */
export function readList(name, path, { where = 'TRUE', order = 't.id', matches, ...options }) {
  /** @type {Table} */
  const { parent, ...rest } = TABLES[name];
  const { size = 25, counted = true, member = false } = options;
  // The page of a member omits the parents, of which a member may read few.
  const table = { ...rest, ...(member || parent === undefined ? {} : { parent }) };
  const rows = `${table.table ?? name} t`;
  const from = matches === undefined ? rows : 'found t';
  const condition = [
    where,
    ...(table.table === undefined ? [] : [`t.type = '${table.type}'`]),
    member ? isVisible(table) : IS_ADMIN,
  ].join(' AND ');
  const show = representationOf(name, table);
  return {
    path: `/api/v2/${path}`,
    text: `
      ${matches === undefined ? '' : `WITH found AS MATERIALIZED (SELECT * FROM ${rows} WHERE ${matches})`}
      SELECT ${columnsOf(table)}
        ${counted ? `, (SELECT count(*) FROM ${from} WHERE ${condition}) AS count` : ''}
      FROM (SELECT * FROM ${from} WHERE ${condition} ORDER BY ${order} LIMIT ${size + 1}) t
      ${joinOf(table)} ORDER BY ${order}`,
    answer: (rows) => ({
      ...(counted ? { count: rows[0]?.count ?? 0 } : {}),
      next: rows.length > size ? `/api/v2/${path}&page=2` : null,
      previous: null,
      results: rows.slice(0, size).map(show),
    }),
  };
}

/**
 * Returns the statement for one object of a collection.
 *
 * @param {keyof typeof TABLES} name
 * @param {number | string | undefined} id
 * @returns {Read}
 */
export function readObject(name, id) {
  /** @type {Table} */
  const table = TABLES[name];
  const show = representationOf(name, table);
  return {
    path: `/api/v2/${name}/${id}/`,
    text: `SELECT ${columnsOf(table)} FROM ${table.table ?? name} t ${joinOf(table)}
      WHERE t.id = ${Number(id)} AND ${IS_ADMIN}`,
    answer: ([row]) => show(row ?? {}),
  };
}
