import { permit } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { existing, zip } from '../common/invariants.js';
import { BOOLEAN, list, STRING } from '../common/fields/json-schema.js';
import type { CopyContext, CopyOptions } from '../common/rest/copy.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Values } from '../common/rest/hooks.js';
import { resource } from '../common/resource/registry.js';
import type { Database } from '../database/database.js';
import { insertRows, takeIds } from '../database/rows.js';
import { ident, sql } from '../database/sql.js';
import { STORED_TYPES } from '../prompts/prompt-columns.js';
import { openAnswers, sealAnswers, type SealedAnswers } from '../prompts/saved-secrets.js';
import { SurveyService } from '../templates/survey.service.js';

const NODES = 'workflow_job_template_nodes';

/** Something a copy would refer to, and whether the copier may let it. */
interface Reference {
  id: number;
  name: string;
  may_read: boolean;
  may_use: boolean;
}

interface CopiedNode extends Row {
  unified_job_template_id: number | null;
  identifier: string;
  all_parents_must_converge: boolean;
  extra_data: Record<string, unknown>;
  survey_passwords: SealedAnswers;
  template_type: string | null;
  template: Reference | null;
  inventory: Reference | null;
  credentials: Reference[];
}

const APPROVAL = 'workflow_approval_template';
const NAMES = list(STRING);

/**
 * What of a workflow does not come along: what the copier may not use himself
 * (docs/contract/workflows.md#copying-workflows).
 */
export const workflowCopy: CopyOptions = {
  losses: {
    properties: {
      can_copy_without_user_input: BOOLEAN,
      templates_unable_to_copy: NAMES,
      credentials_unable_to_copy: NAMES,
      inventories_unable_to_copy: NAMES,
    },
    async tell(original, mayCopy, context) {
      if (!mayCopy) {
        return {
          can_copy_without_user_input: false,
          templates_unable_to_copy: ['all'],
          credentials_unable_to_copy: ['all'],
          inventories_unable_to_copy: ['all'],
        };
      }
      const nodes = await loadNodes(original.id, context);
      const own = await loadOwn(original, context);
      const templates = namesOf(nodes.map((node) => (keepsTemplate(node) ? null : node.template)));
      const credentials = namesOf([own.credential, ...nodes.flatMap((node) => node.credentials)]);
      const inventories = namesOf([own.inventory, ...nodes.map((node) => node.inventory)]);
      return {
        can_copy_without_user_input: [templates, credentials, inventories].every(
          (names) => names.length === 0,
        ),
        templates_unable_to_copy: templates,
        credentials_unable_to_copy: credentials,
        inventories_unable_to_copy: inventories,
      };
    },
  },

  async values(original, context): Promise<Values> {
    const { inventory, credential } = await loadOwn(original, context);
    return {
      ...(inventory?.may_use === false ? { inventory: null } : {}),
      ...(credential?.may_use === false ? { webhook_credential: null } : {}),
    };
  },

  /** Labels, survey and graph. Notifications are not copied, and the webhook key is a new one. */
  async copied(original, copy, context) {
    const { services } = context;
    const { database } = services;
    await database.execute(sql`
      INSERT INTO workflow_job_template_labels (workflow_job_template_id, label_id)
      SELECT ${copy.id}, label_id FROM workflow_job_template_labels
      WHERE workflow_job_template_id = ${original.id}`);
    await services.find(SurveyService).copy(original, copy.id);
    await copyGraph(await loadNodes(original.id, context), copy.id, context);
  },
};

/** Whoever copies a workflow makes its approvals anew; all else he must be allowed to launch. */
const keepsTemplate = ({ template, template_type: type }: CopiedNode): boolean =>
  type === APPROVAL || template?.may_use === true;

/** Names of what is left out, each once; what may not even be read goes by its id. */
const namesOf = (references: readonly (Reference | null)[]): string[] => {
  const lost = references.flatMap((one) => (one && !one.may_use ? [one] : []));
  return [...new Set(lost.map(({ id, name, may_read: mayRead }) => (mayRead ? name : `#${id}`)))];
};

/** A JSON object of type `Reference`, in SQL. */
function reference(alias: string, type: string, action: string, { actor }: CopyContext) {
  const { policy } = resource(type);
  return sql`json_build_object('id', ${ident(alias, 'id')}, 'name', ${ident(alias, 'name')},
    'may_read', (${permit(policy, 'read', alias, actor)}),
    'may_use', (${permit(policy, action, alias, actor)}))`;
}

async function loadOwn(
  { id }: Row,
  context: CopyContext,
): Promise<{ inventory: Reference | null; credential: Reference | null }> {
  const found = await context.services.database.row<{
    inventory: Reference | null;
    credential: Reference | null;
  }>(sql`
    SELECT CASE WHEN inv.id IS NOT NULL
        THEN ${reference('inv', 'inventory', 'use', context)} END AS inventory,
      CASE WHEN cred.id IS NOT NULL
        THEN ${reference('cred', 'credential', 'use', context)} END AS credential
    FROM unified_job_templates tpl
    LEFT JOIN inventories inv ON inv.id = tpl.inventory_id
    LEFT JOIN credentials cred ON cred.id = tpl.webhook_credential_id
    WHERE tpl.id = ${id}`);
  return existing(found, 'the original of a copy is there');
}

function loadNodes(workflowId: number, context: CopyContext): Promise<CopiedNode[]> {
  return context.services.database.rows<CopiedNode>(sql`
    SELECT node.*, tpl.type AS template_type,
      CASE WHEN tpl.id IS NOT NULL
        THEN ${reference('tpl', 'unified_job_template', 'launch', context)} END AS template,
      CASE WHEN inv.id IS NOT NULL
        THEN ${reference('inv', 'inventory', 'use', context)} END AS inventory,
      coalesce((
        SELECT json_agg(${reference('cred', 'credential', 'use', context)} ORDER BY lnk.id)
        FROM workflow_template_node_credentials lnk
        JOIN credentials cred ON cred.id = lnk.credential_id
        WHERE lnk.node_id = node.id), '[]') AS credentials
    FROM workflow_job_template_nodes node
    LEFT JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
    LEFT JOIN inventories inv ON inv.id = node.inventory_id
    WHERE node.workflow_job_template_id = ${workflowId} ORDER BY node.id`);
}

const NODE_COLUMNS = {
  id: 'integer',
  workflow_job_template_id: 'integer',
  unified_job_template_id: 'integer',
  identifier: 'text',
  all_parents_must_converge: 'boolean',
  extra_data: 'json',
  survey_passwords: 'json',
  ...STORED_TYPES,
} as const;

/** Nodes, edges and what hangs on the nodes, in a constant number of statements. */
async function copyGraph(
  nodes: readonly CopiedNode[],
  copyId: number,
  { services, actor }: CopyContext,
): Promise<void> {
  if (nodes.length === 0) return;
  const { database } = services;
  const box = services.find(SecretBox);
  const ids = await database.rows<Row>(takeIds('workflow_job_template_nodes', nodes.length));
  const approvals = await copyApprovals(database, nodes, actor.id);
  const rows = zip(nodes, ids).map(([node, { id }]) =>
    nodeValues(box, node, id, copyId, approvals),
  );
  await database.execute(insertRows('workflow_job_template_nodes', NODE_COLUMNS, rows));
  const former = nodes.map(({ id }) => id);
  const made = ids.map(({ id }) => id);
  await copyLinks(database, former, made);
  const usable = nodes.flatMap((node, index) =>
    keepsTemplate(node)
      ? node.credentials.filter((one) => one.may_use).map((one) => [made[index], one.id])
      : [],
  );
  const columns = { node_id: 'integer', credential_id: 'integer' };
  await database.execute(insertRows('workflow_template_node_credentials', columns, usable));
}

/** @returns id of the copy by that of the original */
async function copyApprovals(
  database: Database,
  nodes: readonly CopiedNode[],
  authorId: number,
): Promise<Map<number, number>> {
  const former = nodes
    .filter(({ template_type: type }) => type === APPROVAL)
    .flatMap((node) => node.unified_job_template_id ?? []);
  const ids = await database.rows<Row>(takeIds('unified_job_templates', former.length));
  const made = ids.map(({ id }) => id);
  await database.execute(sql`
    INSERT INTO unified_job_templates (id, type, name, description, timeout, created_by_id,
      modified_by_id)
    SELECT given.id, ${APPROVAL}, tpl.name, tpl.description, tpl.timeout, ${authorId}::int,
      ${authorId}::int
    FROM unnest(${made}::int[], ${former}::int[]) AS given (id, former_id)
    JOIN unified_job_templates tpl ON tpl.id = given.former_id`);
  return new Map(zip(former, made));
}

/** A node that lost its template keeps its name and its place. */
function nodeValues(
  box: SecretBox,
  node: CopiedNode,
  id: number,
  workflowId: number,
  approvals: ReadonlyMap<number, number>,
): unknown[] {
  const former = node.unified_job_template_id;
  const isKept = keepsTemplate(node);
  const answers = openAnswers(
    box,
    { table: NODES, id: node.id },
    node.extra_data,
    node.survey_passwords,
  );
  const secrets = Object.keys(node.survey_passwords);
  const { shown, sealed } = sealAnswers(box, { table: NODES, id }, answers, secrets);
  const values: Record<string, unknown> = {
    ...(isKept ? node : {}),
    id,
    workflow_job_template_id: workflowId,
    unified_job_template_id: isKept && former !== null ? (approvals.get(former) ?? former) : null,
    identifier: node.identifier,
    all_parents_must_converge: node.all_parents_must_converge,
    extra_data: JSON.stringify(isKept ? shown : {}),
    survey_passwords: JSON.stringify(isKept ? sealed : {}),
    ...(node.inventory?.may_use === true ? {} : { inventory_id: null }),
  };
  return Object.keys(NODE_COLUMNS).map((column) => values[column] ?? null);
}

/** Edges, labels and instance groups: the copies stand where the originals stood. */
async function copyLinks(
  database: Database,
  former: readonly number[],
  made: readonly number[],
): Promise<void> {
  const pairs = sql`unnest(${[...former]}::int[], ${[...made]}::int[])`;
  await database.execute(sql`
    WITH pair (former_id, id) AS (SELECT * FROM ${pairs})
    INSERT INTO workflow_job_template_node_edges (parent_id, child_id, kind)
    SELECT parent.id, child.id, edge.kind FROM workflow_job_template_node_edges edge
    JOIN pair parent ON parent.former_id = edge.parent_id
    JOIN pair child ON child.former_id = edge.child_id`);
  for (const type of ['label', 'instance_group']) {
    const table = ident(`workflow_template_node_${type}s`);
    const far = ident(`${type}_id`);
    await database.execute(sql`
      INSERT INTO ${table} (node_id, ${far})
      SELECT pair.id, lnk.${far} FROM ${pairs} AS pair (former_id, id)
      JOIN ${table} lnk ON lnk.node_id = pair.former_id
      JOIN workflow_job_template_nodes node ON node.id = pair.id
        AND node.unified_job_template_id IS NOT NULL
      ORDER BY lnk.id`);
  }
}
