import { Injectable } from '@nestjs/common';
import {
  AdHocCommandsRepository,
  type CommandContext,
} from '../../ad-hoc-commands/ad-hoc-commands.repository.js';
import { VariablePrefixes } from '../../code-hosts/variables.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { readVariables } from '../../common/fields/variables.js';
import { Settings } from '../../config/settings.js';
import { buildInventory } from '../../inventories/ansible-inventory.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import { openPasswords } from '../../prompts/launch-secrets.js';
import { NO_CREDENTIAL, NO_INVENTORY } from '../../runs/run-explanations.js';
import { toEventRow } from '../runner/events.js';
import { createMasker } from '../runner/masker.js';
import { prepareModuleRun } from '../runner/module-run.js';
import type { Workspace } from '../runner/workspace.js';
import { stopIfEnded, type ActiveRun } from '../worker/active-runs.service.js';
import { AnsibleProcess, type Preparation } from '../worker/ansible-process.service.js';
import { JobCredentials, credentialProperties } from '../worker/job-credentials.service.js';
import { combineVariables, metaVariables, type RunVariables } from '../worker/job-variables.js';
import { CannotStart, type RunOutcome, type RunKind } from '../worker/outcome.js';
import type { RowOfEvent } from '../worker/playbook-events.js';
import { WorkerNode } from '../worker/worker-node.service.js';

/** Events of ad hoc commands display the raw event name. */
const rowOf: RowOfEvent = (event) => {
  const row = toEventRow(event);
  return { ...row, eventDisplay: row.event };
};

/** Runs an ad hoc command: one module on hosts, without a project, a timeout or host summaries. */
@Injectable()
export class AdHocRun implements RunKind {
  constructor(
    private readonly settings: Settings,
    private readonly commands: AdHocCommandsRepository,
    private readonly credentials: JobCredentials,
    private readonly inventories: InventoryRows,
    private readonly process: AnsibleProcess,
    private readonly node: WorkerNode,
    private readonly box: SecretBox,
    private readonly prefixes: VariablePrefixes,
  ) {}

  async run(run: ActiveRun): Promise<RunOutcome> {
    const command = await this.commands.context(run.id);
    if (command.cancel_requested) run.end('cancel');
    return this.process.run(
      run,
      (workspace) => this.prepare(run, command, workspace),
      async (ended) => {
        const outcome = await this.process.conclude(run, ended);
        const { host_status_counts, emitted_events } = ended.events.fields();
        return { ...outcome, fields: { host_status_counts, emitted_events, ...outcome.fields } };
      },
    );
  }

  private async prepare(
    run: ActiveRun,
    command: CommandContext,
    workspace: Workspace,
  ): Promise<Preparation> {
    const { id, credential_id: credential, inventory_id: inventoryId } = command;
    const rows = inventoryId === null ? null : await this.inventories.load(inventoryId);
    if (!rows) throw new CannotStart(NO_INVENTORY);
    run.hosts = new Map(rows.hosts.map(({ id: host, name }) => [name, host]));
    const inventory = await buildInventory(rows, { hostvars: true, towervars: true });
    if (credential === null) throw new CannotStart(NO_CREDENTIAL);
    const passwords = openPasswords(this.box, id, command.start_args);
    const plan = await this.credentials.open(run, [credential], { passwords, workspace });
    stopIfEnded(run);
    const description = {
      ...credentialProperties(plan),
      ...(await this.variables(command, plan.extraVars)),
      jobId: run.id,
      attempt: run.attempt,
      inventory,
      ...(inventoryId === null ? {} : { inventoryId }),
      jobType: command.job_type === 'check' ? ('check' as const) : ('run' as const),
      module: command.module_name,
      moduleArgs: command.module_args,
      limit: command.limit,
      forks: Math.min(command.forks, this.settings.MAX_FORKS),
      verbosity: command.verbosity,
      diffMode: command.diff_mode,
      becomeEnabled: command.become_enabled,
    };
    const prepared = await prepareModuleRun(description, workspace);
    return { prepared, masker: createMasker(plan.secrets), revision: '', shared: [], rowOf };
  }

  /** An ad hoc command has no template, so none of its texts is evaluated as a template. */
  private async variables(
    command: CommandContext,
    credentials: Readonly<Record<string, unknown>>,
  ): Promise<RunVariables> {
    const { inventory_id: inventoryId, inventory_name: name } = command;
    const facts = {
      jobId: command.id,
      launchType: command.launch_type,
      user: command.user,
      inventory: inventoryId === null ? null : { id: inventoryId, name: name ?? '' },
      template: null,
      schedule: null,
      executionNode: this.node.hostname,
      projectRevision: '',
      projectBranch: '',
      jobBranch: '',
    };
    return combineVariables(
      {
        job: await readVariables(command.extra_vars),
        webhook: {},
        credentials,
        meta: metaVariables(facts, this.prefixes.all),
      },
      {},
    );
  }
}
