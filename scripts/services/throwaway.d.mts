/** PostgreSQL and Redis servers for tests, which `throwaway.mjs` starts. */
export interface ThrowawayServices {
  readonly folder: string;
  /** URL for a role that can create databases; null if PostgreSQL was not requested. */
  readonly databaseUrl: string | null;
  /** URL of Redis; null if Redis was not requested. */
  readonly redisUrl: string | null;
  /** Ends a service by a signal (default SIGKILL; SIGQUIT is PostgreSQL's immediate stop), and waits. */
  halt(name: 'postgres' | 'redis', signal?: NodeJS.Signals): Promise<void>;
  /** Restarts a halted service with the same address and data, and waits. */
  resume(name: 'postgres' | 'redis'): Promise<void>;
  /** Ends the services and removes their data. */
  stop(): Promise<void>;
  /** Ends the services. Other programs can use the folder until `remove()`. */
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
