import { lookEvery } from './look-every.js';
import { findProcess, listProcesses } from './process-table.js';

const WATCH_MS = 1_000;

/**
 * Calls `onGone` once when the playbook of a runner has ended while the runner is still alive.
 *
 * @param runner process id of `ansible-runner`, the parent of the playbook's process, once it has
 *   started
 * @param hasStarted returns true if the playbook is known to have started, for example because it
 *   printed output
 * @returns function that stops the watch
 */
export function watchPlaybook(
  runner: () => Promise<number | undefined> | undefined,
  hasStarted: () => boolean,
  onGone: () => void,
): () => void {
  let playbookPid: number | undefined;
  return lookEvery(WATCH_MS, async () => {
    // Evaluated before the look-up: a playbook that starts after the look-up is found by the next
    // one.
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
