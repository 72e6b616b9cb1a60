/** Placeholder for a secret in the environment that users see. */
export const HIDDEN = '**********';

/** Vault password; `id` is empty for the vault without an id. */
export interface VaultSecret {
  id: string;
  password: string;
}

/** File in the job's private folder, to be written with mode 0600. */
export interface InjectedFile {
  name: string;
  content: string;
}

/** Effects of a job's credentials on its run. */
export interface InjectionPlan {
  /** Remote user; null: the run's default user. */
  remoteUser: string | null;
  becomeMethod: string | null;
  becomeUser: string | null;
  sshPassword: string | null;
  becomePassword: string | null;
  /** Private key for the agent, ending with a line break. */
  sshKeyData: string | null;
  /** Signed certificate of the key. */
  sshPublicKeyData: string | null;
  sshKeyUnlock: string | null;
  vaults: VaultSecret[];
  env: Record<string, string>;
  /** `env` without secrets, which can be stored and shown. */
  safeEnv: Record<string, string>;
  extraVars: Record<string, string>;
  files: InjectedFile[];
  /** All secrets of the run. None of them can appear in stored output. */
  secrets: string[];
}

/** Error for a job that cannot run with its credentials. The message becomes the `job_explanation`. */
export class InjectionError extends Error {
  override readonly name = 'InjectionError';
}

/** Target of the injector of one credential. */
export interface InjectionTarget {
  plan: InjectionPlan;
  /** Returns the path that a file of this credential will have. */
  pathOf: (fileName: string) => string;
  /** Adds a file to the plan and returns its path. */
  addFile: (fileName: string, content: string) => string;
}

/** Adds the line break at the end of a key, without which OpenSSH rejects the key. */
export function withLineBreak(key: string): string {
  return key === '' || key.endsWith('\n') ? key : `${key}\n`;
}

/** Returns the names of the environment variables that contain secrets. */
export const secretEnvIn = ({ env, safeEnv }: InjectionPlan): string[] =>
  Object.keys(env).filter((name) => safeEnv[name] !== env[name]);

/** Returns a plan without effects. */
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
