import { raw, type Sql } from '../database/sql.js';

/**
 * Kinds of runs that have a process. The scheduler assigns these runs to workers, which execute them
 * under a lease. Runs of other kinds consist of these runs, or wait for a decision.
 */
export const EXECUTED_KINDS = [
  'job',
  'project_update',
  'inventory_update',
  'ad_hoc_command',
  'system_job',
] as const;
export type ExecutedKind = (typeof EXECUTED_KINDS)[number];

/** SQL condition on a row of runs: true for the kinds that workers execute. */
export const IS_EXECUTED: Sql = raw(`type IN ('${EXECUTED_KINDS.join("', '")}')`);
