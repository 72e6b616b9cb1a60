import { raw, type Sql } from '../database/sql.js';

/** A dependency of a run, as the run's explanation names it. */
export interface NamedRun {
  type: string;
  name: string;
  id: number;
}

/**
 * Returns the explanation of a run that ended without running (docs/contract/runs.md#dependencies).
 */
export function previousTask(end: 'Failed' | 'Canceled', { type, name, id }: NamedRun): string {
  const dependency = `{"job_type": "${type}", "job_name": ${JSON.stringify(name)}, "job_id": "${id}"}`;
  return `Previous Task ${end}: ${dependency}`;
}

/**
 * Waiting time, in seconds, after which the explanation of a run says why it waits
 * (docs/contract/runs.md#why-a-run-waits).
 */
export const EXPLAIN_AFTER_SECONDS = 30;

/**
 * Returns the explanation of a waiting run, as SQL over columns with the kind and the id of the
 * other run.
 */
export const waitingFor = (type: string, id: string): Sql =>
  raw(`'waiting for ' || ${type} || '-' || ${id} || ' to finish'`);

export const NO_CAPACITY =
  'This job is not ready to start because there is not enough available capacity.';
/** Followed by the name of the environment. */
export const NO_ENGINE =
  'This job is not ready to start because no instance of its groups can run containers: ' +
  'it needs one with Podman or Docker for the execution environment "';
export const NO_INVENTORY = 'Job could not start because it does not have a valid inventory.';
export const NO_CREDENTIAL = 'Job could not start because it does not have a valid credential.';
export const NO_PROJECT = 'Job could not start because it does not have a valid project.';
export const LIMIT_WITHOUT_HOSTS = 'The limit matches none of the hosts.';
export const TIMED_OUT = 'Job terminated due to timeout';

export const timedOutIdle = (seconds: number): string =>
  `${TIMED_OUT}: no output for ${seconds} seconds`;
/** Explanation of an update that timed out or was canceled after the inventory was read. */
export const STORING_TIMED_OUT = 'Inventory update has timed out';
export const STORING_CANCELED = 'Inventory update has been canceled';

/** @param code exit code of Ansible; null: ended by a signal */
export const endedWithoutFailure = (code: number | null): string =>
  `Ansible ended ${code === null ? 'by a signal' : `with exit code ${code}`}, and no task had failed. ` +
  'The end of the output contains the reason.';
export const SECRETS_TOO_LARGE =
  'The statistics are not passed to later nodes: some were set under no_log, and together they are too large.';

/** @param bytes maximum size of the artifacts of a run, as JSON */
export const artifactsTooLarge = (bytes: number): string =>
  `The values of set_stats are larger than ${bytes} bytes and are not kept.`;
/** @param bytes maximum size of the artifacts that a node inherits, as JSON */
export const inheritedTooLarge = (bytes: number): string =>
  `The values of set_stats of the earlier nodes are together larger than ${bytes} bytes.`;
/** Start of the explanation of a run whose project has no valid signature. */
export const SIGNATURE_FAILED = 'Signature validation failed: ';

/**
 * Returns the reason why a project whose last update failed has no files for a run.
 *
 * @param hasInvalidSignature true if the update failed because of its signature
 */
export const missingRevision = (hasInvalidSignature: boolean): string =>
  hasInvalidSignature
    ? 'Last project update failed due to signature validation failure.'
    : 'Missing a revision to run due to failed project update.';
export const SHUT_DOWN = 'Task was canceled due to receiving a shutdown signal.';

/** @param ended number of processes of the run that were still alive and were ended */
export function notInQueue(ended: number): string {
  const text =
    'Task was marked as running but was not present in the job queue, ' +
    'so it has been marked as failed.';
  if (ended === 0) return text;
  return `${text} ${ended} ${ended === 1 ? 'process of it was' : 'processes of it were'} still running and ${
    ended === 1 ? 'has' : 'have'
  } been ended.`;
}

/** @param bytes maximum size of a run's folder */
export const folderTooLarge = (bytes: number): string =>
  `The job wrote more than ${bytes} bytes into its folder (JOB_DISK_BYTES) and has been ended.`;

/** @param bytes maximum memory of a run's processes */
export const tooMuchMemory = (bytes: number): string =>
  `The job took more than ${bytes} bytes of memory (JOB_MEMORY_BYTES) and has been ended.`;

/** @param events maximum number of stored events of a run */
export const tooManyEvents = (events: number): string =>
  `The job made more than ${events} events (JOB_EVENTS) and has been ended.`;

/** @param bytes maximum size of a run's events */
export const eventsTooLarge = (bytes: number): string =>
  `The events of the job took more than ${bytes} bytes (JOB_EVENT_BYTES), so it has been ended.`;

/** @param bytes maximum size of a repository's folder */
export const repositoryTooLarge = (bytes: number): string =>
  `The repository is larger than ${bytes} bytes (JOB_DISK_BYTES).`;

export const OUTPUT_TOO_LARGE = 'A program printed more than 16 MB and has been ended.';

/** Maximum number of hosts that the message names. */
const HOSTS_NAMED = 5;

/** @param hosts hosts whose facts are too large or not JSON */
export function factsNotStored(hosts: readonly string[]): string {
  if (hosts.length === 0) return '';
  const named = hosts.slice(0, HOSTS_NAMED).join(', ');
  const rest = hosts.length > HOSTS_NAMED ? ` and ${hosts.length - HOSTS_NAMED} more` : '';
  return `The facts of these hosts were not stored, because they are too large (HOST_FACTS_BYTES) or not readable: ${named}${rest}.`;
}
export const FACTS_NOT_STORED = 'The facts of the hosts could not be stored.';
