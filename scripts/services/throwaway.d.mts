/** A PostgreSQL and a Redis of their own for tests; see the implementation beside this file. */
export interface ThrowawayServices {
  readonly folder: string;
  /** Of a role that may create databases; null when PostgreSQL was not asked for. */
  readonly databaseUrl: string | null;
  /** Null when Redis was not asked for. */
  readonly redisUrl: string | null;
  /** Ends one by a signal (default SIGKILL; SIGQUIT is PostgreSQL's immediate stop), and waits. */
  halt(name: 'postgres' | 'redis', signal?: NodeJS.Signals): Promise<void>;
  /** Starts one that was halted, at the same address and with the data it had, and waits. */
  resume(name: 'postgres' | 'redis'): Promise<void>;
  /** Ends both and removes their data. */
  stop(): Promise<void>;
  /** Ends both; their data and the folder stay until `remove()`, for what else still uses it. */
  end(): Promise<void>;
  /** Removes the data and the folder. */
  remove(): void;
}

export function startThrowawayServices(options?: {
  postgres?: boolean;
  redis?: boolean;
  onDisk?: boolean;
}): Promise<ThrowawayServices>;

export function throwawayFolder(services: ThrowawayServices, name: string): string;

export const RUN_MARK: string;
