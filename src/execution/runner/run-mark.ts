import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resultOr } from '../../common/errors/errors.js';
import { isRecord } from '../../common/records.js';
import { bootId, findProcess, type ProcessEntry } from './process-table.js';
import { type Workspace, writePrivateFile } from './workspace.js';

/**
 * Content of `run.json`: the process and attempt of a run, unambiguous even after process ids are
 * reused.
 */
export interface RunMark extends Pick<ProcessEntry, 'pid' | 'startTime' | 'groupId'> {
  readonly runId: number;
  readonly attempt: number;
  readonly bootId: string;
  /** First process inside the sandbox, in the numbering of this machine; null without a sandbox. */
  readonly firstPid: number | null;
}

const FILE_NAME = 'run.json';

/**
 * Records the process of a run. Call this function when the process exists, and again when the first
 * process inside the sandbox is known.
 */
export async function writeRunMark(
  workspace: Workspace,
  pid: number,
  firstPid: number | null = null,
): Promise<RunMark> {
  const [boot, entry] = await Promise.all([bootId(), findProcess(pid)]);
  const mark: RunMark = {
    runId: workspace.jobId,
    attempt: workspace.attempt,
    bootId: boot,
    pid,
    startTime: entry?.startTime ?? '',
    groupId: entry?.groupId ?? pid,
    firstPid,
  };
  await writePrivateFile(join(workspace.root, FILE_NAME), JSON.stringify(mark));
  return mark;
}

/** Returns the mark in the folder of a workspace; null if it is missing or unreadable. */
export async function readRunMark(dir: string): Promise<RunMark | null> {
  const text = await readFile(join(dir, FILE_NAME), 'utf8').catch(() => '');
  const mark = resultOr((): unknown => JSON.parse(text), null);
  return isRunMark(mark) ? mark : null;
}

function isRunMark(value: unknown): value is RunMark {
  if (!isRecord(value)) return false;
  const numbers = [value['runId'], value['attempt'], value['pid'], value['groupId']];
  const texts = [value['bootId'], value['startTime']];
  return numbers.every(Number.isSafeInteger) && texts.every((text) => typeof text === 'string');
}
