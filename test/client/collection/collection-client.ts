/**
 * Client that behaves like the collection: it sends the requests of its modules for a task, and interprets
 * the responses as they do. It decides nothing the modules do not decide, and fails where they fail.
 *
 *   const collection = new CollectionClient(test.url, { by: 'given token', token });
 *   await collection.run('team', { name: 'Ops', organization: 'Home' }); // { changed: true, id }
 *
 * Parameters are those of the modules (a parameter left out is undefined, never null). Intervals are
 * seconds, and short ones keep tests quick.
 */
import { cancelCommand, runCommand, waitForCommand } from './command-modules.js';
import { runInputSource } from './input-source-module.js';
import { ModuleRun, type Outcome } from './module-run.js';
import type { Item } from './python-values.js';
import { runResource } from './resource-module.js';
import { type ResourceTable, RESOURCES } from './resource-tables.js';
import { runRole } from './role-module.js';
import * as runs from './run-modules.js';
import { type Exchange, type Login, Wire } from './wire.js';
import { runWorkflowNode, runWorkflowTemplate } from './workflow-modules.js';

type Module = (run: ModuleRun) => Promise<unknown>;

const resource =
  (table: ResourceTable): Module =>
  (run) =>
    runResource(run, table);

const MODULES = {
  ...(Object.fromEntries(
    Object.entries(RESOURCES).map(([name, table]) => [name, resource(table)]),
  ) as Record<keyof typeof RESOURCES, Module>),
  project: async (run) => {
    const scm_type = run.params.scm_type === 'manual' ? '' : run.params.scm_type;
    Object.assign(run.params, { scm_type });
    await runs.followProject(run, await runResource(run, RESOURCES.project));
  },
  workflow_job_template: runWorkflowTemplate,
  workflow_job_template_node: runWorkflowNode,
  credential_input_source: runInputSource,
  ad_hoc_command: runCommand,
  ad_hoc_command_wait: waitForCommand,
  ad_hoc_command_cancel: cancelCommand,
  role: runRole,
  token: runToken,
  job_launch: runs.launchJob,
  job_wait: runs.waitForJob,
  job_cancel: runs.cancelJob,
  job_list: runs.listJobs,
  workflow_launch: runs.launchWorkflow,
  workflow_node_wait: runs.waitForNode,
  workflow_approval: runs.decideApproval,
  project_update: runs.updateProject,
  inventory_source_update: runs.updateSource,
  bulk_job_launch: runs.launchBulk,
  bulk_host_create: runs.createHosts,
  bulk_host_delete: runs.deleteHosts,
} satisfies Record<string, Module>;

export type ModuleName = keyof typeof MODULES;

export class CollectionClient {
  /** Requests of the last task, with login and logout. */
  exchanges: readonly Exchange[] = [];
  warnings: readonly string[] = [];

  constructor(
    private readonly url: string,
    private readonly login: Login,
  ) {}

  /** @throws ModuleFailure where the module would fail */
  async run(module: ModuleName, params: Item): Promise<Outcome> {
    const wire = new Wire(this.url, this.login);
    this.exchanges = wire.exchanges;
    this.warnings = wire.warnings;
    const run = new ModuleRun(wire, { ...params });
    try {
      await MODULES[module](run);
    } finally {
      await wire.close();
    }
    return run.outcome;
  }

  /** Requests of the last task as `METHOD /path`, without those of the login. */
  get requests(): string[] {
    return this.exchanges
      .filter(({ path }) => !/\/(?:tokens|me)\//.test(path))
      .map(({ method, path }) => `${method} ${path}`);
  }
}

/** Creates a token and returns it, or deletes one by its id or by the returned object. */
async function runToken(run: ModuleRun): Promise<void> {
  const { existing_token: given, existing_token_id: id, state, description, scope } = run.params;
  if (state === 'absent') {
    const existing = given ?? (await run.find('tokens', { query: { id } }));
    return run.remove(existing as Item | undefined);
  }
  run.outcome.token = await run.ensure(
    undefined,
    { description, scope: scope ?? 'write' },
    'tokens',
  );
}
