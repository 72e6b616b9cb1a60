/** Stands for a secret in the environment that users see. */
export const HIDDEN = '**********';

/** A vault password; `id` is empty for the one vault without an id. */
export interface VaultSecret {
  id: string;
  password: string;
}

/** A file of the job's private folder, to be written with mode 0600. */
export interface InjectedFile {
  name: string;
  content: string;
}

/** What the credentials of a job mean for its run. */
export interface InjectionPlan {
  /** Null: the run's default user. */
  remoteUser: string | null;
  becomeMethod: string | null;
  becomeUser: string | null;
  sshPassword: string | null;
  becomePassword: string | null;
  /** A private key for the agent, ending with a line break. */
  sshKeyData: string | null;
  /** A signed certificate that belongs to the key. */
  sshPublicKeyData: string | null;
  sshKeyUnlock: string | null;
  vaults: VaultSecret[];
  env: Record<string, string>;
  /** `env` as it may be stored and shown. */
  safeEnv: Record<string, string>;
  extraVars: Record<string, string>;
  files: InjectedFile[];
  /** Every secret of the run: none of them may appear in stored output. */
  secrets: string[];
}

/** Thrown when a job cannot run with its credentials; the message is its `job_explanation`. */
export class InjectionError extends Error {
  constructor(explanation: string) {
    super(explanation);
    this.name = 'InjectionError';
  }
}

/** Where the injector of one credential puts its results. */
export interface InjectionTarget {
  plan: InjectionPlan;
  /** Path that a file of this credential will have. */
  pathOf: (fileName: string) => string;
  /** Adds a file to the plan and gives its path. */
  addFile: (fileName: string, content: string) => string;
}

/** OpenSSH reads a key only when its last line is complete. */
export function withLineBreak(key: string): string {
  return key === '' || key.endsWith('\n') ? key : `${key}\n`;
}

/** A plan that changes nothing. */
export function emptyPlan(): InjectionPlan {
  return {
    remoteUser: null,
    becomeMethod: null,
    becomeUser: null,
    sshPassword: null,
    becomePassword: null,
    sshKeyData: null,
    sshPublicKeyData: null,
    sshKeyUnlock: null,
    vaults: [],
    env: {},
    safeEnv: {},
    extraVars: {},
    files: [],
    secrets: [],
  };
}
