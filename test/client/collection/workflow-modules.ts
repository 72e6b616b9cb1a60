import { type Associations, type ModuleRun } from './module-run.js';
import { isFilled, isItem, type Item } from './python-values.js';
import { runResource } from './resource-module.js';
import { RESOURCES } from './resource-tables.js';
import { member, ModuleFailure, related } from './wire.js';

const NODES = 'workflow_job_template_nodes';
const EDGES = ['always_nodes', 'success_nodes', 'failure_nodes'] as const;
const PROMPT_LISTS = ['credentials', 'instance_groups', 'labels'] as const;
/** Sent only if they hold something. */
const NODE_FIELDS = [
  ...['identifier', 'extra_data', 'scm_branch', 'job_type', 'job_tags', 'skip_tags', 'limit'],
  ...['diff_mode', 'verbosity', 'all_parents_must_converge', 'forks', 'job_slice_count'],
  'timeout',
];
const APPROVAL_FIELDS = ['name', 'description', 'timeout'];

/** A workflow and, if the task lists them, its nodes and then the edges between them. */
export async function runWorkflowTemplate(run: ModuleRun): Promise<void> {
  const { params } = run;
  const item = await runResource(run, RESOURCES.workflow_job_template);
  if (!item) return;
  const query = params.organization === undefined ? {} : { organization: item.organization };
  const nameOrId = String(params.new_name ?? params.name);
  const found = await run.get(RESOURCES.workflow_job_template.endpoint, { nameOrId, query });
  const workflow = Number(member(found, 'id'));
  if (params.destroy_current_nodes)
    for (const node of await run.all(NODES, { workflow_job_template: workflow }))
      await run.wire.delete(String(member(node, 'url')));
  const nodes = itemsOf(params.workflow_nodes);
  for (const node of nodes) await ensureListedNode(run, workflow, node);
  for (const node of nodes.filter(isPresent)) await tieListedNode(run, workflow, node);
}

/**
 * Creates, changes or deletes one node of a workflow by its identifier, with its edges, prompts and approval.
 */
export async function runWorkflowNode(run: ModuleRun): Promise<void> {
  const { params } = run;
  const within =
    params.organization === undefined
      ? {}
      : { organization: await run.idOf('organizations', String(params.organization)) };
  const name = String(params.workflow_job_template);
  const workflow = await run.idOf('workflow_job_templates', name, within);
  const search = { identifier: params.identifier, workflow_job_template: workflow };
  const existing = await run.find(NODES, { query: search });
  if (params.state === 'absent') return run.remove(existing);
  const fields: Item = { workflow_job_template: workflow, type: 'workflow_job_template_node' };
  await lookUpNodeFields(run, fields);
  copyFilled(NODE_FIELDS, params, fields);
  const associations = await namedLists(run, workflow);
  await run.ensure(existing, fields, NODES, associations);
  if (isItem(params.approval_node)) {
    const approval: Item = {};
    for (const key of APPROVAL_FIELDS) approval[key] = params.approval_node[key];
    await ensureApproval(run, search, approval);
  }
}

async function lookUpNodeFields(run: ModuleRun, fields: Item): Promise<void> {
  const { lookup_organization, unified_job_template, inventory } = run.params;
  const within =
    lookup_organization === undefined
      ? {}
      : { organization: await run.idOf('organizations', String(lookup_organization)) };
  if (unified_job_template !== undefined) {
    const name = String(unified_job_template);
    fields.unified_job_template = await run.idOf('unified_job_templates', name, within);
  }
  if (inventory !== undefined) fields.inventory = await run.idOf('inventories', String(inventory));
}

async function namedLists(run: ModuleRun, workflow: number): Promise<Associations> {
  const associations: Associations = {};
  for (const list of [...EDGES, ...PROMPT_LISTS]) {
    const names = run.params[list];
    if (!Array.isArray(names)) continue;
    associations[list] = [];
    for (const name of names.map(String))
      associations[list].push(
        isPromptList(list)
          ? await run.idOf(list, name)
          : await nodeId(run, { identifier: name, workflow_job_template: workflow }),
      );
  }
  return associations;
}

/** Creates a node in the list of its workflow. All nodes are created before they are linked. */
async function ensureListedNode(run: ModuleRun, workflow: number, node: Item): Promise<void> {
  const fields: Item = { workflow_job_template: workflow };
  const template = node.unified_job_template;
  if (!isItem(template)) throw new ModuleFailure('A node needs a unified_job_template.');
  const query: Item = { type: template.type };
  await narrowByOrganization(run, template, query);
  const nameOrId = String(template.name);
  const found = await run.find('unified_job_templates', { nameOrId, query });
  if (found) fields.unified_job_template = member(found, 'id');
  else if (template.type !== 'workflow_approval')
    throw new ModuleFailure(`Unable to find the unified_job_template ${nameOrId}.`);
  copyFilled([...NODE_FIELDS, 'state'], node, fields);
  if (isItem(node.inventory)) {
    const within: Item = {};
    await narrowByOrganization(run, node.inventory, within);
    fields.inventory = await run.idOf('inventories', String(node.inventory.name), within);
  }
  const search = { identifier: node.identifier, workflow_job_template: workflow };
  const existing = await run.find(NODES, { query: search });
  if (!isPresent(node)) return run.remove(existing);
  await run.ensure(existing, fields, NODES);
  if (template.type !== 'workflow_approval') return;
  copyFilled(APPROVAL_FIELDS, template, fields);
  await ensureApproval(run, search, fields);
}

async function tieListedNode(run: ModuleRun, workflow: number, node: Item): Promise<void> {
  const search = { workflow_job_template: workflow, identifier: node.identifier };
  const existing = await run.get(NODES, { query: search });
  const lists = isItem(node.related) ? node.related : {};
  const associations: Associations = {};
  for (const list of [...EDGES, ...PROMPT_LISTS]) {
    if (!(list in lists)) continue;
    const ids: number[] = [];
    for (const named of itemsOf(lists[list])) {
      const query: Item = {};
      await narrowByOrganization(run, named, query);
      ids.push(
        isPromptList(list)
          ? Number(member(await run.get(list, { query: { ...query, name: named.name } }), 'id'))
          : await nodeId(run, { identifier: named.identifier, workflow_job_template: workflow }),
      );
    }
    if (ids.length > 0) associations[list] = ids;
    await run.ensure(existing, search, NODES, associations);
  }
}

/** Creates the approval of a node below the node, or changes it at the address the node links to. */
async function ensureApproval(run: ModuleRun, search: Item, fields: Item): Promise<void> {
  const node = await run.get(NODES, { query: search });
  const links = member(node, 'related');
  const hasTemplate = isItem(links) && typeof links.unified_job_template === 'string';
  const existing = hasTemplate
    ? (await run.wire.get(related(node, 'unified_job_template'))).json
    : undefined;
  const endpoint = `${NODES}/${String(member(node, 'id'))}/create_approval_template/`;
  await run.ensure(existing, fields, endpoint);
}

async function narrowByOrganization(run: ModuleRun, named: Item, query: Item): Promise<void> {
  if (!isItem(named.organization)) return;
  query.organization = await run.idOf('organizations', String(named.organization.name));
}

const nodeId = async (run: ModuleRun, query: Item): Promise<number> =>
  Number(member(await run.get(NODES, { query }), 'id'));

function copyFilled(names: readonly string[], from: Item, to: Item): void {
  for (const name of names) if (isFilled(from[name])) to[name] = from[name];
}

const isPromptList = (list: string): boolean => (PROMPT_LISTS as readonly string[]).includes(list);
const isPresent = (node: Item): boolean => node.state !== 'absent';
const itemsOf = (value: unknown): Item[] => (Array.isArray(value) ? value.filter(isItem) : []);
