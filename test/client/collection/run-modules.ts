import type { ModuleRun, Waiting } from './module-run.js';
import { isFilled, isItem, type Item, pythonJson } from './python-values.js';
import { type Answer, itemOf, member, ModuleFailure, related } from './wire.js';

/** Parameters, with the field of the template that must permit each. */
const JOB_PROMPTS = {
  scm_branch: 'ask_scm_branch_on_launch',
  diff_mode: 'ask_diff_mode_on_launch',
  limit: 'ask_limit_on_launch',
  tags: 'ask_tags_on_launch',
  skip_tags: 'ask_skip_tags_on_launch',
  job_type: 'ask_job_type_on_launch',
  verbosity: 'ask_verbosity_on_launch',
  inventory: 'ask_inventory_on_launch',
  credentials: 'ask_credential_on_launch',
};
const WORKFLOW_PROMPTS = {
  inventory: 'ask_inventory_on_launch',
  limit: 'ask_limit_on_launch',
  scm_branch: 'ask_scm_branch_on_launch',
};
const JOB_FIELDS = [
  ...['job_type', 'limit', 'extra_vars', 'scm_branch', 'verbosity', 'diff_mode'],
  ...['credential_passwords', 'forks', 'job_slice_count', 'job_timeout'],
];
const JOB_LISTS = ['credentials', 'labels', 'instance_groups'];
const BULK_FIELDS = [
  ...['jobs', 'name', 'description', 'limit', 'scm_branch', 'extra_vars', 'job_tags', 'skip_tags'],
];

export async function launchJob(run: ModuleRun): Promise<void> {
  const { params } = run;
  const data = filled(params, JOB_FIELDS);
  // The template's `timeout` has another name here, because `timeout` is how long the task waits.
  if (isFilled(params.job_timeout)) data.timeout = params.job_timeout;
  if (Array.isArray(params.tags)) data.job_tags = params.tags.join();
  if (Array.isArray(params.skip_tags)) data.skip_tags = params.skip_tags.join();
  if (params.inventory) data.inventory = await run.idOf('inventories', String(params.inventory));
  for (const list of JOB_LISTS) {
    const names = params[list];
    if (!Array.isArray(names) || names.length === 0) continue;
    const ids: number[] = [];
    for (const name of names.map(String)) ids.push(await run.idOf(list, name));
    data[list] = ids;
  }
  const template = await templateOf(run, 'job_templates');
  checkPrompts(params, template, JOB_PROMPTS);
  await started(run, await run.wire.post(related(template, 'launch'), data), 201, false);
}

export async function launchWorkflow(run: ModuleRun): Promise<void> {
  const { params } = run;
  const data = filled(params, ['limit', 'extra_vars', 'scm_branch']);
  if (params.inventory) data.inventory = await run.idOf('inventories', String(params.inventory));
  const template = await templateOf(run, 'workflow_job_templates');
  checkPrompts(params, template, WORKFLOW_PROMPTS);
  await started(run, await run.wire.post(related(template, 'launch'), data), 201);
}

export async function launchBulk(run: ModuleRun): Promise<void> {
  const { params } = run;
  const data = filled(params, BULK_FIELDS);
  if (params.organization)
    data.organization = await run.idOf('organizations', String(params.organization));
  if (params.inventory) data.inventory = await run.idOf('inventories', String(params.inventory));
  await started(run, await run.wire.post('bulk/job_launch', data), 201);
}

export async function createHosts(run: ModuleRun): Promise<void> {
  const { inventory, hosts } = run.params;
  const id = await run.idOf('inventories', String(inventory));
  expectStatus(await run.wire.post('bulk/host_create', { inventory: id, hosts }), 201);
  run.outcome.changed = true;
}

export async function deleteHosts(run: ModuleRun): Promise<void> {
  const inventory = await run.idOf('inventories', String(run.params.inventory));
  const { hosts } = run.params;
  expectStatus(await run.wire.post('bulk/host_delete', { inventory, hosts }), 201);
  run.outcome.changed = true;
}

export async function waitForJob(run: ModuleRun): Promise<void> {
  const { job_id: id, job_type: endpoint = 'jobs' } = run.params;
  await waitForRun(run, await run.get(String(endpoint), { query: { id } }));
}

export async function waitForRun(run: ModuleRun, found: Item): Promise<void> {
  await run.waitFor(String(member(found, 'url')), waitingOf(run));
}

export async function cancelJob(run: ModuleRun): Promise<void> {
  const { job_id: id, fail_if_not_running: insists = false } = run.params;
  const link = related(await run.get('jobs', { query: { id } }), 'cancel');
  if (!member((await run.wire.get(link)).json, 'can_cancel')) {
    if (insists) throw new ModuleFailure('The job is not running.');
    return;
  }
  expectStatus(await run.wire.post(link), 202);
  run.outcome.changed = true;
}

export async function updateProject(run: ModuleRun): Promise<void> {
  const project = await templateOf(run, 'projects');
  const before = member(project, 'scm_revision');
  const update = await started(run, await run.wire.post(related(project, 'update')), 202);
  if (update) run.outcome.changed = member(update, 'scm_revision') !== before;
}

export async function updateSource(run: ModuleRun): Promise<void> {
  const { name, inventory, organization } = run.params;
  const place =
    organization === undefined
      ? {}
      : { organization: await run.idOf('organizations', String(organization)) };
  const query = { inventory: await run.idOf('inventories', String(inventory), place) };
  const source = await run.get('inventory_sources', { nameOrId: String(name), query });
  await started(run, await run.wire.post(related(source, 'update')), 202, false);
}

/** Waits for a project that was changed, or updates it if the task requests this. */
export async function followProject(run: ModuleRun, project: Item | undefined): Promise<void> {
  const { wait = true, update_project: isUpdated = false, scm_type: kind } = run.params;
  if (!project || !(isUpdated || (run.outcome.changed && wait && kind !== ''))) return;
  const before = member(project, 'scm_revision');
  const { current_update: current } = itemOf(project, 'summary_fields');
  if (isItem(current)) {
    const url = `project_updates/${String(member(current, 'id'))}/`;
    const { status } = await run.waitUntilDone(url, waitingOf(run).interval);
    if (status !== 'successful') throw new ModuleFailure('The project update failed.');
  } else if (isUpdated) {
    const { id, name, changed } = run.outcome;
    const update = await started(run, await run.wire.post(related(project, 'update')), 202);
    Object.assign(run.outcome, { id, name, changed });
    if (update) run.outcome.changed = member(update, 'scm_revision') !== before;
  }
}

export async function waitForNode(run: ModuleRun): Promise<void> {
  const { workflow_job_id: workflowJob, name } = run.params;
  const waiting = waitingOf(run);
  const node = await run.nodeOf(Number(workflowJob), String(name), waiting);
  run.outcome.job_data = await run.waitFor(related(node, 'job'), waiting);
}

export async function decideApproval(run: ModuleRun): Promise<void> {
  const { workflow_job_id: workflowJob, name, action = 'approve' } = run.params;
  const node = await run.nodeOf(Number(workflowJob), String(name), waitingOf(run));
  const { status } = await run.wire.post(`${related(node, 'job')}${String(action)}`);
  if (status === 204) run.outcome.changed = true;
}

export async function listJobs(run: ModuleRun): Promise<void> {
  const { query, status, page, all_pages: isAll } = run.params;
  const asked = { ...(page !== undefined && { page }), ...(status !== undefined && { status }) };
  Object.assign(asked, query);
  const answer = isAll
    ? { results: await run.all('jobs', asked) }
    : (await run.wire.get('jobs', asked)).json;
  Object.assign(run.outcome, answer);
}

/** Waits for a launched run, unless `wait` of the task is false; the default is `waitsByDefault`. */
export async function started(
  run: ModuleRun,
  answer: Answer,
  expected: number,
  waitsByDefault = true,
): Promise<Item | undefined> {
  expectStatus(answer, expected);
  const { json } = answer;
  const facts = { id: member(json, 'id'), status: member(json, 'status') };
  Object.assign(run.outcome, { changed: true, ...facts });
  if (!(run.params.wait ?? waitsByDefault)) return undefined;
  return run.waitFor(String(member(json, 'url')), waitingOf(run));
}

async function templateOf(run: ModuleRun, endpoint: string): Promise<Item> {
  const { name, organization } = run.params;
  const query =
    organization === undefined
      ? {}
      : { organization: await run.idOf('organizations', String(organization)) };
  return run.get(endpoint, { nameOrId: String(name), query });
}

function checkPrompts(params: Item, template: Item, prompts: Record<string, string>): void {
  const refused = Object.entries(prompts)
    .filter(([name, flag]) => isFilled(params[name]) && !member(template, flag))
    .map(([name]) => name);
  const takesVariables = (): unknown =>
    member(template, 'ask_variables_on_launch') || member(template, 'survey_enabled');
  if (isFilled(params.extra_vars) && !takesVariables()) refused.push('extra_vars');
  if (refused.length > 0)
    throw new ModuleFailure(`The template does not ask for ${refused.join(', ')}.`);
}

function expectStatus({ status, json }: Answer, expected: number): void {
  if (status !== expected)
    throw new ModuleFailure(`${status} instead of ${expected}: ${pythonJson(json)}`);
}

function waitingOf({ params: { timeout, interval } }: ModuleRun): Waiting {
  return {
    ...(timeout !== undefined && { timeout: Number(timeout) }),
    ...(interval !== undefined && { interval: Number(interval) }),
  };
}

const filled = (params: Item, names: readonly string[]): Item =>
  Object.fromEntries(
    names.filter((name) => isFilled(params[name])).map((name) => [name, params[name]]),
  );
