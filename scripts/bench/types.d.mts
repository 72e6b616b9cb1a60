/** Types that the suites of the benchmark share. */

export interface SuiteInput {
  root: string;
  environment: NodeJS.ProcessEnv;
  /** Number of hosts in the tables. */
  rows: number;
  /** Duration of a turn of reads in seconds. */
  seconds: number;
  /** Number of turns of each load on each server. */
  turns: number;
  /** Part of the names of the selected scenarios; empty for all. */
  only: string;
}

/** Migrated database with an administrator. */
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
  /** Allocated bytes after a garbage collection. Requires a start with `--expose-gc`. */
  memory: () => Promise<number>;
  /**
   * Longest iteration of the event loop during `work`, in milliseconds of processor time.
   */
  longestTurn: <Result>(
    work: () => Promise<Result>,
  ) => Promise<{ result: Result; longestTurn: number }>;
  /** Processor time in which the main thread of the server parses YAML, in milliseconds. */
  yamlTime: (text: string) => Promise<number>;
  stop: () => Promise<void>;
}

/** Requests per second and latencies in milliseconds. */
export interface Rate {
  perSecond?: number | undefined;
  p50?: number | undefined;
  p95?: number | undefined;
  p99?: number | undefined;
  failed?: number | undefined;
  /** Milliseconds of processor time, and statements, for each request. */
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

/** Line of a table: the figures of the product and of the limit. */
export interface Result {
  name: string;
  product?: Rate | undefined;
  limit?: Rate | undefined;
  /** Requests per second of each turn, for the record of a run. */
  turns?: { product: number[]; limit: number[] };
  note?: string;
  megabytes?: number;
  budget?: Budget | undefined;
}
