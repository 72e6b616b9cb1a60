import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonText } from '../../common/fields/json-text.js';
import type { AnsibleInventory } from '../../inventories/ansible-inventory.js';
import { RunnerError } from '../../runs/runner-error.js';
import { quoteArguments } from './ansible-arguments.js';
import { storableText } from '../../common/fields/text.js';
import { toCleanJson } from './clean-text.js';
import { toExtraVarsYaml } from './extra-vars-yaml.js';
import { installCachePlugin } from './fact-files.js';
import { baseEnvironment, maskedEnvironment, runEnvironment } from './run-environment.js';
import { checkPrivateKey, normalizeKey } from './ssh-key.js';
import { RUN_IDENT, type Workspace, writeInventoryScript, writePrivateFile } from './workspace.js';

/** The input of a run of Ansible, independent of its kind, the database and the queue. */
export interface AnsibleRun {
  readonly jobId: number;
  readonly attempt: number;
  readonly inventory: AnsibleInventory;
  readonly extraVars: Readonly<Record<string, unknown>>;
  /** Keys of `extraVars` with untrusted values, in which Ansible evaluates no `{{ }}`. */
  readonly unsafeKeys?: Iterable<string>;
  readonly jobType: 'run' | 'check';
  /** Number of forks; 0: Ansible's default. */
  readonly forks?: number;
  readonly verbosity?: number;
  readonly diffMode?: boolean;
  readonly becomeEnabled?: boolean;
  readonly becomeMethod?: string;
  readonly becomeUser?: string;
  /** Remote user; `root` if empty. */
  readonly remoteUser?: string;
  /** Passwords for prompts; each password also adds the option that makes Ansible prompt. */
  readonly passwords?: { readonly ssh?: string; readonly become?: string };
  readonly sshKeyData?: string;
  readonly sshKeyUnlock?: string;
  /** Signed certificate of the key. */
  readonly sshCertificate?: string;
  readonly vaultPasswords?: readonly { readonly id?: string; readonly password: string }[];
  /** Additional environment variables (credential injectors, the administrator's settings). */
  readonly env?: Readonly<Record<string, string>>;
  /** Names in `env` whose values are always masked, in addition to names that look secret. */
  readonly secretEnv?: Iterable<string>;
  readonly inventoryId?: number;
  readonly projectRevision?: string;
  /** Search paths for roles and collections, instead of Ansible's own. */
  readonly rolesPaths?: readonly string[];
  readonly collectionsPaths?: readonly string[];
  /** Timeout in seconds; 0 or absent: no timeout. */
  readonly timeoutSeconds?: number;
  /** Seconds without output after which the run is ended; 0 or absent: no limit. */
  readonly idleSeconds?: number;
  /** True if the run reads stored facts and stores the facts that it gathers (`fact-files.ts`). */
  readonly usesFacts?: boolean;
}

/** Data that the process needs, and the parts that the API shows. */
export interface PreparedRun {
  readonly workspace: Workspace;
  /** Arguments of `ansible-runner`. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Files of `env` that are removed once the run has started. */
  readonly startFiles: readonly string[];
  readonly timeoutSeconds: number;
  readonly idleSeconds: number;
  /** Argument list of Ansible as JSON text. */
  readonly jobArgs: string;
  readonly jobCwd: string;
  /** Environment with secrets replaced by `**********`. */
  readonly jobEnv: Readonly<Record<string, string>>;
}

/** The parts of a run that depend on its kind. Paths are those that the run sees. */
export interface AnsibleCommand {
  readonly program: 'ansible' | 'ansible-playbook';
  /** Options before those for inventory and variables. */
  readonly options: readonly string[];
  /** Arguments after the options. */
  readonly target: readonly string[];
  /** Arguments for `ansible-runner` itself. */
  readonly runnerArguments: readonly string[];
  readonly cwd: string;
  /** Environment variables in addition to those of every run. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Time that `ansible-runner` reads output before it checks if the playbook is alive, in seconds. If
 * the playbook ended meanwhile, `ansible-runner` drops the unread output with its last events. The
 * value is so large that `ansible-runner` reads to the end; `RunProcess` handles cancellation, the
 * timeout, and forks that outlive the playbook.
 */
const READ_SECONDS = 24 * 60 * 60;
/**
 * Margin of the timeout of `ansible-runner`, in seconds. The worker's own timer acts first; the
 * runner's timer is for a run whose worker died.
 */
const TIMEOUT_MARGIN_SECONDS = 15;

/** Maximum length of a limit that is an argument, in bytes. Linux limits an argument to 128 KiB. */
const MAX_LIMIT_ARGUMENT = 130_000;

/**
 * Returns a limit as Ansible accepts it. Writes a list that is too long for an argument, such as the failed
 * hosts of a relaunch, to a file with one pattern per line.
 *
 * @throws RunnerError if a limit that is too long is not a list, or contains the name of a file
 */
export async function limitArgument(limit: string, { envDir, inside }: Workspace): Promise<string> {
  if (Buffer.byteLength(limit) <= MAX_LIMIT_ARGUMENT) return limit;
  if (!limit.includes(',') || limit.includes('@')) {
    throw new RunnerError(
      `The limit has more than ${MAX_LIMIT_ARGUMENT} bytes. Separate its patterns with commas, and name no file.`,
    );
  }
  await writePrivateFile(join(envDir, 'limit'), storableText(limit).replaceAll(',', '\n'));
  return `@${join(inside.envDir, 'limit')}`;
}

/**
 * Writes the workspace of a run and returns how to start it.
 *
 * @throws RunnerError if the key is invalid
 */
export async function prepareRun(
  run: AnsibleRun,
  workspace: Workspace,
  { program, options, target, runnerArguments, cwd, environment: further }: AnsibleCommand,
): Promise<PreparedRun> {
  const { inside } = workspace;
  const environment = {
    ...runEnvironment(run, inside.dir),
    ...(await installCachePlugin(workspace, { storesFacts: run.usesFacts === true })),
    ...further,
  };
  await writePrivateFile(join(workspace.envDir, 'inventory.json'), toCleanJson(run.inventory));
  const inventory = await writeInventoryScript(workspace, 'hosts', 'env/inventory.json');
  const startFiles = await writeEnvironment(run, workspace, options, environment);
  const base = baseEnvironment(process.env, workspace.mark);
  const extraVars = `@${join(inside.envDir, 'extravars')}`;
  return {
    workspace,
    args: [
      'run',
      '--json',
      `--ident=${RUN_IDENT}`,
      `--inventory=${inventory}`,
      ...runnerArguments,
      inside.dir,
    ],
    environment: base,
    startFiles,
    timeoutSeconds: run.timeoutSeconds ?? 0,
    idleSeconds: run.idleSeconds ?? 0,
    jobArgs: jsonText([program, ...options, '-i', inventory, '-e', extraVars, ...target]),
    jobCwd: cwd,
    jobEnv: maskedEnvironment({ ...base, ...environment }, new Set(run.secretEnv)),
  };
}

async function writeEnvironment(
  run: AnsibleRun,
  workspace: Workspace,
  options: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  const write = async (name: string, content: string): Promise<string> => {
    await writePrivateFile(join(workspace.envDir, name), content);
    return name;
  };
  await mkdir(join(workspace.dir, 'tmp'), { mode: 0o700 });
  await write('cmdline', quoteArguments(options));
  await write('extravars', toExtraVarsYaml(run.extraVars, new Set(run.unsafeKeys)));
  await write('settings', JSON.stringify(runnerSettings(run)));
  const startFiles = [
    await write('envvars', toCleanJson(environment)),
    await write('passwords', toCleanJson(passwordAnswers(run))),
  ];
  if (run.sshKeyData) {
    startFiles.push(await write('ssh_key', normalizeKey(run.sshKeyData)));
    const keyFile = join(workspace.envDir, 'ssh_key');
    await checkPrivateKey(keyFile, run.sshKeyUnlock ?? '', workspace.dir);
    if (run.sshCertificate) {
      // The runner adds the key from this folder, and `ssh-add` reads the certificate beside it.
      const folder = join(workspace.artifactsDir, RUN_IDENT);
      await mkdir(folder, { mode: 0o700 });
      await writePrivateFile(join(folder, 'ssh_key_data-cert.pub'), run.sshCertificate);
    }
  }
  return startFiles;
}

function runnerSettings({ timeoutSeconds = 0 }: AnsibleRun): Record<string, unknown> {
  const limit = timeoutSeconds + TIMEOUT_MARGIN_SECONDS;
  return {
    suppress_output_file: true,
    ...(timeoutSeconds > 0
      ? { job_timeout: limit, pexpect_timeout: limit + TIMEOUT_MARGIN_SECONDS }
      : { pexpect_timeout: READ_SECONDS }),
  };
}

const REGEXP_SIGNS = /[.*+?^${}()|[\]\\]/g;

/**
 * Returns the answers to prompts for `env/passwords`: each key is a pattern (Python's `re`), each value the
 * input. The runner compares the last 100 characters only, so a pattern matches the end of a prompt.
 */
export function passwordAnswers(run: AnsibleRun): Record<string, string> {
  const answers: Record<string, string> = {};
  if (run.sshKeyData && run.sshKeyUnlock) {
    // ssh prompts endlessly after a wrong passphrase; an empty line aborts.
    answers['Bad passphrase, try again for [^\\n]*:\\s*?$'] = '';
    answers['ssh_key_data:\\s*?$'] = run.sshKeyUnlock;
  }
  if (run.passwords?.ssh) {
    answers['SSH password:\\s*?$'] = run.passwords.ssh;
    answers['^Password:\\s*?$'] = run.passwords.ssh;
  }
  if (run.passwords?.become) {
    const method = (run.becomeMethod || 'sudo').replace(REGEXP_SIGNS, '\\$&');
    answers['BECOME password[^\\n]*:\\s*?$'] = run.passwords.become;
    answers[`${method} password[^\\n]*:\\s*?$`] = run.passwords.become;
  }
  for (const { id, password } of run.vaultPasswords ?? []) {
    const name = id ? ` \\(${id.replace(REGEXP_SIGNS, '\\$&')}\\)` : '';
    answers[`Vault password${name}:\\s*?$`] = password;
  }
  return answers;
}
