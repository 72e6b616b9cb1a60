/** A program as it would be started without a boundary. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Working folder, as the command sees it. */
  readonly cwd: string;
}

/** A folder or file of the machine that a command sees. */
export interface Bind {
  readonly from: string;
  /** Where it stands inside; at its own path when absent. */
  readonly to?: string;
  readonly isWritable?: boolean;
  /** Handed to the account of runs, which reads it and no more. */
  readonly isPrivate?: boolean;
  /** Left out when it does not exist. */
  readonly isOptional?: boolean;
}

/** What one command sees of the machine besides the system. */
export interface Enclosure {
  /** Folder that holds what was made for this command alone; itself not seen inside. */
  readonly root: string;
  /** Seen inside in this order; those that are writable are handed to the account of runs. */
  readonly binds: readonly Bind[];
  /** Home folder, as the command sees it. */
  readonly home: string;
  /** Host name inside. */
  readonly name: string;
  /** Whether the machine's network is seen; the setting decides for jobs, git needs it. */
  readonly hasNetwork: boolean;
  /** Largest file, in bytes; `JOB_FILE_BYTES` when absent. */
  readonly maxFileBytes?: number;
}

/** How a command is started. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * Processes between the first one of the boundary and the command itself; null where there is no
   * boundary, and with it no line of JSON about the first process on file descriptor 3.
   */
  readonly depth: number | null;
  /** The signal to the process that is started with which everything inside ends. */
  readonly endsBy: 'SIGKILL' | 'SIGTERM';
  /** Exit code that says that it ran out of memory; absent where only looking tells. */
  readonly ranOutCode?: number;
}

/** What keeps a command to its enclosure. */
export interface Fence {
  /** How to start a command so that it sees what its enclosure says and no more. */
  wrap(command: Command, enclosure: Enclosure): Promise<Launch>;
}

/** The command as it is, without a boundary. */
export function openLaunch(command: Command): Launch {
  return { ...command, depth: null, endsBy: 'SIGKILL' };
}
