import { raw, type Sql } from '../database/sql.js';

/**
 * Kinds of runs that have a process of their own: the scheduler gives them to workers, which hold them
 * by a lease and end them. The others are made of these, or wait for somebody.
 */
export const WORKED_KINDS = [
  'job',
  'project_update',
  'inventory_update',
  'ad_hoc_command',
] as const;
export type WorkedKind = (typeof WORKED_KINDS)[number];

/** Condition on a row of runs: it is of a kind that workers take. */
export const IS_WORKED: Sql = raw(`type IN ('${WORKED_KINDS.join("', '")}')`);
