import { readdirSync, readFileSync } from 'node:fs';

import { commandLineOf, endRecord, identityOf, recordOf } from './identity.mjs';

/** Number of rounds. A process may start another one after the list of processes was read. */
const MAX_ROUNDS = 5;

/**
 * Ends every process except this one whose environment contains `name=value`, and resolves to their command
 * lines. Finds also processes in other sessions whose parents have ended. Does nothing without /proc.
 *
 * @param {string} name
 * @param {string} value
 * @returns {Promise<string[]>}
 */
export async function endMarkedProcesses(name, value) {
  if (process.platform !== 'linux') return [];
  const mark = `${name}=${value}\0`;
  const ended = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = await endProcessesWith(mark);
    if (found.length === 0) break;
    ended.push(...found);
  }
  return ended;
}

/** @param {string} mark */
async function endProcessesWith(mark) {
  const ended = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || !hasMark(pid, mark)) continue;
    if (identityOf(pid) === null) continue;
    ended.push(commandLineOf(pid));
    await endRecord(recordOf(pid), 'SIGKILL', 2000);
  }
  return ended;
}

/**
 * @param {number} pid
 * @param {string} mark
 */
function hasMark(pid, mark) {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`.includes(mark);
  } catch {
    return false; // The process has ended, or belongs to another user.
  }
}
