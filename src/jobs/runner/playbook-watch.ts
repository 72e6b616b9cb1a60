import { findProcess, listProcesses } from './process-table.js';

const WATCH_MS = 1_000;

/**
 * Tells once when the playbook that a runner has started is gone while the runner lives on. A playbook that
 * ends between two looks without ever being seen is not told of.
 *
 * @param runnerPid process id of `ansible-runner`, the parent of the playbook's process
 * @returns ends the watch
 */
export function watchPlaybook(runnerPid: number, onGone: () => void): () => void {
  let playbookPid: number | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (playbookPid === undefined) {
      playbookPid = (await listProcesses()).find(({ parentPid }) => parentPid === runnerPid)?.pid;
      return;
    }
    const playbook = await findProcess(playbookPid);
    if (playbook && playbook.state !== 'Z' && playbook.parentPid === runnerPid) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}
