import { accessArguments, forksArguments, verbosityArguments } from './ansible-arguments.js';
import { prepareRun, type AnsibleRun, type PreparedRun } from './ansible-run.js';
import { cleanText } from './clean-text.js';
import type { Workspace } from './workspace.js';
import { RunnerError } from '../../runs/runner-error.js';

/** One module on hosts, without a playbook. */
export interface ModuleRun extends AnsibleRun {
  readonly module: string;
  /** Arguments of the module; empty for none. */
  readonly moduleArgs: string;
  /** Which of the hosts; all when empty. */
  readonly limit: string;
}

/**
 * The options of `ansible` for a module, without inventory, variables and module.
 *
 * The hosts are a limit on `all`, which the `localhost` that Ansible adds to every inventory is not part
 * of: as the pattern itself, its name would match the machine of the worker.
 */
export function moduleArguments(run: ModuleRun): string[] {
  const args = [...accessArguments(run), ...forksArguments(run), ...verbosityArguments(run)];
  // Joined to their options: they may begin with a dash.
  if (run.limit !== '') args.push(`--limit=${run.limit}`);
  if (run.moduleArgs !== '') args.push(`--args=${run.moduleArgs}`);
  return args.map(cleanText);
}

/**
 * Writes the workspace of a run of one module and says how to start it.
 *
 * @throws RunnerError when the limit or the key is not acceptable
 */
export async function prepareModuleRun(run: ModuleRun, workspace: Workspace): Promise<PreparedRun> {
  const { inside } = workspace;
  // Ansible would read patterns from any file, and show what it found.
  if (run.limit.includes('@')) throw new RunnerError('The limit names a file.');
  return prepareRun(run, workspace, {
    program: 'ansible',
    options: moduleArguments(run),
    target: ['-m', run.module, 'all'],
    runnerArguments: [`--module=${run.module}`, '--hosts=all'],
    cwd: inside.dir,
    environment: {
      AD_HOC_COMMAND_ID: String(run.jobId),
      INVENTORY_HOSTVARS: 'True',
      ANSIBLE_LOAD_CALLBACK_PLUGINS: '1',
      ANSIBLE_SFTP_BATCH_MODE: 'False',
    },
  });
}
