/** What the suites of the benchmark pass to each other. */
import type { ChildProcess } from 'node:child_process';

export interface SuiteInput {
  root: string;
  environment: NodeJS.ProcessEnv;
  /** Hosts that lists have. */
  rows: number;
  /** Measured seconds of each turn of a request that reads. */
  seconds: number;
  /** Turns of each load on each side, where both take turns. */
  turns: number;
  /** Names of scenarios hold this; empty for all. */
  only: string;
}

/** A migrated database of its own with an administrator. */
export interface World {
  root: string;
  environment: NodeJS.ProcessEnv & { DATABASE_URL: string; DATA_DIR: string };
  cli: (...args: string[]) => Promise<string>;
  /** Token of the administrator. */
  admin: string;
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;
/** JSON whose shape the caller knows. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

export interface Sent {
  path: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Buffer;
}

export interface RunningServer {
  url: string;
  pid: number;
  /** Statements sent to PostgreSQL since the start. */
  statements: () => Promise<number>;
  /** Bytes that are left after a collection, of a server that was started with `--expose-gc`. */
  memory: () => Promise<number>;
  /**
   * The longest that its event loop was busy without a turn for others while `work` was done, in
   * milliseconds of processor time.
   */
  longestTurn: <Result>(
    work: () => Promise<Result>,
  ) => Promise<{ result: Result; longestTurn: number }>;
  stop: () => Promise<void>;
}

/** Requests per second and latencies in milliseconds. */
export interface Rate {
  perSecond?: number | undefined;
  p50?: number | undefined;
  p95?: number | undefined;
  p99?: number | undefined;
  failed?: number | undefined;
  /** Each a request: milliseconds of processor time, and statements. */
  apiMs?: number | undefined;
  postgresMs?: number | undefined;
  statements?: number | undefined;
}

export interface Budget {
  ratio?: number;
  perSecond?: number;
  p95?: number;
  p99?: number;
  addedMs?: number;
  megabytes?: number;
  apiMs?: number;
  statements?: number;
}

/** One line of a table: what the product did, and what the limit did beside it. */
export interface Result {
  name: string;
  product?: Rate | undefined;
  limit?: Rate | undefined;
  /** What both did a second in each turn, for the record of a run. */
  turns?: { product: number[]; limit: number[] };
  note?: string;
  megabytes?: number;
  budget?: Budget | undefined;
}

export type Children = Set<ChildProcess>;
