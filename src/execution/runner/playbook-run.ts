import { cp, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

import { resolveInside } from '../../projects/project-files.js';
import { RunnerError } from '../../runs/runner-error.js';
import { prepareRun, type AnsibleRun, type PreparedRun } from './ansible-run.js';
import { playbookArguments } from './playbook-arguments.js';
import { pathInside, type Workspace } from './workspace.js';

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
    options: playbookArguments(run),
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
