import { cp, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { resolveInside } from '../../projects/project-files.js';
import { RunnerError } from '../../runs/runner-error.js';
import { limitArgument, prepareRun, type AnsibleRun, type PreparedRun } from './ansible-run.js';
import {
  accessArguments,
  forksArguments,
  optionalArgument,
  valued,
  verbosityArguments,
} from './ansible-arguments.js';
import { storableText } from '../../common/fields/text.js';
import { pathInside, type Workspace } from './workspace.js';

/** An entry of a host pattern that names a file with patterns. */
const PATTERN_FILE = /(?:^|[,:;\s&!])@([^,:;\s]*)/g;

/** Input of one playbook run, independent of the database and the queue. */
export interface PlaybookRun extends AnsibleRun {
  /** Checkout of the project; used in place, or copied into the workspace (`copyProject`). */
  readonly projectDir: string;
  readonly copyProject?: boolean;
  /** Path of the playbook, relative to the project. */
  readonly playbook: string;
  readonly limit?: string;
  readonly tags?: string;
  readonly skipTags?: string;
  readonly startAtTask?: string;
  readonly forceHandlers?: boolean;
}

/**
 * Writes the workspace of a run and returns how to start it.
 *
 * @throws RunnerError if the project folder does not exist, or the playbook, limit, vault ids or key are
 *   invalid
 */
export async function preparePlaybookRun(
  run: PlaybookRun,
  workspace: Workspace,
): Promise<PreparedRun> {
  const placed = await placeProject(run, workspace);
  const projectDir = pathInside(workspace, placed);
  const playbook = await playbookPath(placed, run.playbook);
  return prepareRun(run, workspace, {
    program: 'ansible-playbook',
    options: playbookArguments(run, await limitArgument(checkedLimit(run.limit), workspace)),
    target: [playbook],
    runnerArguments: [`--project-dir=${projectDir}`, `--playbook=${playbook}`],
    cwd: projectDir,
  });
}

async function placeProject(run: PlaybookRun, workspace: Workspace): Promise<string> {
  const isFolder = await stat(run.projectDir).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new RunnerError('The project folder does not exist.');
  if (!run.copyProject) return run.projectDir;
  await cp(run.projectDir, workspace.projectDir, { recursive: true, verbatimSymlinks: true });
  return workspace.projectDir;
}

/**
 * Returns the playbook's path as an argument: relative to the project, and never with a leading
 * dash.
 */
async function playbookPath(projectDir: string, playbook: string): Promise<string> {
  await resolveInside(projectDir, playbook);
  const path = relative(projectDir, join(projectDir, playbook));
  return path.startsWith('-') ? `.${sep}${path}` : path;
}

/**
 * Returns the options of `ansible-playbook` for a job, without inventory, variables and playbook.
 */
export function playbookArguments(run: PlaybookRun, limit = checkedLimit(run.limit)): string[] {
  const args = [...accessArguments(run), ...vaultArguments(run), ...forksArguments(run)];
  if (run.forceHandlers) args.push('--force-handlers');
  args.push(...optionalArgument('-l', '--limit', limit));
  args.push(...verbosityArguments(run));
  args.push(...optionalArgument('-t', '--tags', run.tags));
  if (run.skipTags) args.push(`--skip-tags=${run.skipTags}`);
  if (run.startAtTask) args.push(`--start-at-task=${run.startAtTask}`);
  return args.map(storableText);
}

function vaultArguments(run: PlaybookRun): string[] {
  const ids = (run.vaultPasswords ?? []).map((vault) => vault.id ?? '');
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new RunnerError(`Vault id "${repeated}" is given twice.`);
  return ids.flatMap((id) => {
    if (id === '') return ['--ask-vault-pass'];
    // The part after the first @ names a file or a program, so an id must not contain an @.
    if (!/^[^\s@,]+$/.test(id)) throw new RunnerError(`Vault id "${id}" is not valid.`);
    return valued('--vault-id', '--vault-id', `${id}@prompt`);
  });
}

/**
 * Checks the files in a limit. `@file` reads patterns from a file and prints unknown patterns, so only
 * project files are allowed.
 */
function checkedLimit(limit = ''): string {
  for (const [, path = ''] of limit.matchAll(PATTERN_FILE)) {
    const isOutside =
      path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..');
    if (isOutside) throw new RunnerError('The limit names a file outside of the project.');
  }
  return limit;
}
