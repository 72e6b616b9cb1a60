import { accessArguments, forksArguments, verbosityArguments } from './ansible-arguments.js';
import { limitArgument, prepareRun, type AnsibleRun, type PreparedRun } from './ansible-run.js';
import { storableText } from '../../common/fields/text.js';
import type { Workspace } from './workspace.js';
import { RunnerError } from '../../runs/runner-error.js';

/** Input of a run of one module, without a playbook. */
export interface ModuleRun extends AnsibleRun {
  readonly module: string;
  /** Arguments of the module; empty: none. */
  readonly moduleArgs: string;
  /** Host pattern; empty: all hosts. */
  readonly limit: string;
}

/**
 * Returns the options of `ansible` for a module, without inventory, variables and module.
 *
 * The pattern is a limit on `all`, which does not contain the implicit `localhost` of every
 * inventory. If the pattern were the target itself, the name `localhost` would match the machine of
 * the worker.
 */
export function moduleArguments(run: ModuleRun): string[] {
  const args = [...accessArguments(run), ...forksArguments(run), ...verbosityArguments(run)];
  // Joined to their options, because a value can begin with a dash.
  if (run.limit !== '') args.push(`--limit=${run.limit}`);
  if (run.moduleArgs !== '') args.push(`--args=${run.moduleArgs}`);
  return args.map(storableText);
}

/**
 * Writes the workspace of a run of one module and returns how to start it.
 *
 * @throws RunnerError if the limit or the key is invalid
 */
export async function prepareModuleRun(run: ModuleRun, workspace: Workspace): Promise<PreparedRun> {
  const { inside } = workspace;
  // Ansible would read patterns from any file and print its content.
  if (run.limit.includes('@')) throw new RunnerError('The limit names a file.');
  return prepareRun(run, workspace, {
    program: 'ansible',
    options: moduleArguments({ ...run, limit: await limitArgument(run.limit, workspace) }),
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
