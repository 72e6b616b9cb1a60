import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { codeOf } from '../console/problem.mjs';

const POLL_MS = 50;
const START_TIME_FIELD = 19; // Field 22 of /proc/<pid>/stat, counted after the command's parenthesis.

/** @typedef {{ pid: number, identity: string | null }} ProcessRecord */

/**
 * Returns a text that distinguishes a process from a later one with the same id: its start time and its boot.
 * Null if there is no such process, or only a zombie.
 *
 * @param {number} pid
 * @returns {string | null}
 */
export function identityOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/**
 * Returns the pair to write to a file so that the process can be recognized later.
 *
 * @param {number} pid
 * @returns {ProcessRecord}
 */
export function recordOf(pid) {
  return { pid, identity: identityOf(pid) };
}

/**
 * Returns true if the process of a record is still running.
 *
 * @param {ProcessRecord | null | undefined} record
 */
export function isRunning(record) {
  if (!record?.identity) return false;
  return identityOf(record.pid) === record.identity;
}

/**
 * Returns the command line, arguments separated by spaces; empty if it cannot be read.
 *
 * @param {number} pid
 */
export function commandLineOf(pid) {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    }
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/**
 * Returns the child processes of a process; none without /proc.
 *
 * @param {number | null} pid
 * @returns {ProcessRecord[]}
 */
export function childrenOf(pid) {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return pids.trim().split(' ').map(Number).map(recordOf);
  } catch {
    return [];
  }
}

/**
 * Sends a signal to the process of a record; false if it has ended.
 *
 * @param {ProcessRecord} record
 * @param {NodeJS.Signals} signal
 */
export function signalRecord(record, signal) {
  if (!isRunning(record)) return false;
  try {
    process.kill(record.pid, signal);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Ends a process that is not a child of this one: the given signal first, SIGKILL after `graceMs`. Resolves
 * to false if the process had ended before.
 *
 * @param {ProcessRecord} record
 * @param {NodeJS.Signals} signal
 * @param {number} graceMs
 */
export async function endRecord(record, signal, graceMs) {
  if (!signalRecord(record, signal)) return false;
  if (await hasEnded(record, graceMs)) return true;
  signalRecord(record, 'SIGKILL');
  await hasEnded(record, 5000);
  return true;
}

/**
 * @param {ProcessRecord} record
 * @param {number} limitMs
 */
async function hasEnded(record, limitMs) {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    if (!isRunning(record)) return true;
    await pause(POLL_MS);
  }
  return !isRunning(record);
}

/** @param {number} pid */
function fromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${fields[START_TIME_FIELD]}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function fromPs(pid) {
  try {
    const output = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    }).trim();
    if (output === '' || output.startsWith('Z')) return null;
    return output.slice(output.indexOf(' ')).trim();
  } catch {
    return null;
  }
}
