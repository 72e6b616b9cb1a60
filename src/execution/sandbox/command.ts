/** A program and its arguments, as started without a sandbox. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Working directory, as the command sees it. */
  readonly cwd: string;
}

/** A folder or file of the machine that is visible to a command. */
export interface Bind {
  readonly from: string;
  /** Path inside the sandbox; the same path as outside if absent. */
  readonly to?: string;
  readonly isWritable?: boolean;
  /** True if a read-only bind belongs to the account of runs, so that no other account reads the bind. */
  readonly isPrivate?: boolean;
  /** True if the bind is skipped when the path does not exist. */
  readonly isOptional?: boolean;
}

/** Parts of the machine that are visible to one command, besides the system. */
export interface SandboxSpec {
  /** Folder with the files written for this command alone; not visible inside. */
  readonly root: string;
  /** Binds in the order of mounting. The account of runs becomes the owner of writable and private binds. */
  readonly binds: readonly Bind[];
  /** Home directory, as the command sees it. */
  readonly home: string;
  /** Host name inside the sandbox. */
  readonly name: string;
  /**
   * True if the command uses the network of the machine. `JOB_NETWORK` decides for jobs; git always
   * needs the network.
   */
  readonly hasNetwork: boolean;
  /** Maximum file size, in bytes; `JOB_FILE_BYTES` if absent. */
  readonly maxFileBytes?: number;
}

export interface Launch extends Command {
  /**
   * Number of processes between the first process of the sandbox and the command; null without a sandbox. A
   * sandbox reports its first process as JSON on file descriptor 3.
   */
  readonly depth: number | null;
  /** Signal to the started process that ends all processes inside the sandbox. */
  readonly killSignal: 'SIGKILL' | 'SIGTERM';
  /** Exit code that means "out of memory"; absent if no exit code has this meaning. */
  readonly outOfMemoryCode?: number;
}

export interface Sandbox {
  /** Returns how to start a command so that it sees exactly the files that its sandbox lists. */
  wrap(command: Command, spec: SandboxSpec): Promise<Launch>;
}

/** Returns the launch of a command without a sandbox. */
export function directLaunch(command: Command): Launch {
  return { ...command, depth: null, killSignal: 'SIGKILL' };
}
