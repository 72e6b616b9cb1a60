import { lookEvery } from './look-every.js';
import { findProcess, listProcesses } from './process-table.js';

const WATCH_MS = 1_000;

/**
 * Tells once when the playbook that a runner has started is gone while the runner lives on.
 *
 * @param runner process id of `ansible-runner`, the parent of the playbook's process, once it has started
 * @param hasStarted whether the playbook is known to have run, such as by its output
 * @returns ends the watch
 */
export function watchPlaybook(
  runner: () => Promise<number | undefined> | undefined,
  hasStarted: () => boolean,
  onGone: () => void,
): () => void {
  let playbookPid: number | undefined;
  return lookEvery(WATCH_MS, async () => {
    // Asked first: what starts after this look is looked for in the next one.
    const isExpected = playbookPid !== undefined || hasStarted();
    const runnerPid = await runner();
    if (runnerPid === undefined) return false;
    playbookPid ??= (await listProcesses()).find(({ parentPid }) => parentPid === runnerPid)?.pid;
    const playbook = playbookPid === undefined ? null : await findProcess(playbookPid);
    const isAlive = playbook && playbook.state !== 'Z' && playbook.parentPid === runnerPid;
    if (isAlive || !isExpected) return false;
    onGone();
    return true;
  });
}
