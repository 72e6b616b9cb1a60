import type { ModuleRun } from './module-run.js';
import { waitForRun, started } from './run-modules.js';
import { isFilled, type Item, pythonJson } from './python-values.js';
import { member, ModuleFailure, related } from './wire.js';

const FIELDS = [
  ...['job_type', 'module_name', 'module_args', 'forks', 'verbosity', 'limit'],
  ...['become_enabled', 'diff_mode'],
];

/** Runs one module on hosts, and waits for it if the task has `wait`. */
export async function runCommand(run: ModuleRun): Promise<void> {
  const { params } = run;
  const data: Item = Object.fromEntries(
    FIELDS.filter((name) => isFilled(params[name])).map((name) => [name, params[name]]),
  );
  if (isFilled(params.extra_vars)) data.extra_vars = pythonJson(params.extra_vars);
  data.inventory = await run.idOf('inventories', String(params.inventory));
  data.credential = await run.idOf('credentials', String(params.credential));
  const environment = params.execution_environment;
  if (environment !== undefined) {
    data.execution_environment = await run.idOf('execution_environments', String(environment));
  }
  await started(run, await run.wire.post('ad_hoc_commands', data), 201, false);
}

export async function waitForCommand(run: ModuleRun): Promise<void> {
  const command = await run.find('ad_hoc_commands', { query: { id: run.params.command_id } });
  if (!command) throw new ModuleFailure('There is no such command.');
  await waitForRun(run, command);
}

/** Cancels a command, and waits until it can no longer be canceled. */
export async function cancelCommand(run: ModuleRun): Promise<void> {
  const { command_id: id, fail_if_not_running: insists = false } = run.params;
  const command = await run.find('ad_hoc_commands', { query: { id } });
  if (!command) throw new ModuleFailure('There is no such command.');
  const link = related(command, 'cancel');
  if (!member((await run.wire.get(link)).json, 'can_cancel')) {
    if (insists) throw new ModuleFailure('The command is not running.');
    return;
  }
  const { status } = await run.wire.post(link);
  if (status !== 202) throw new ModuleFailure(`Unable to cancel: ${status}`);
  while (member((await run.wire.get(link)).json, 'can_cancel')) {
    /** The module polls. */
  }
  run.outcome.changed = true;
}
