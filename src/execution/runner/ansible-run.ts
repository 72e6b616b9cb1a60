import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { jsonText } from '../../common/fields/json-text.js';
import type { AnsibleInventory } from '../../inventories/ansible-inventory.js';
import { quoteArguments } from './ansible-arguments.js';
import { toCleanJson } from './clean-text.js';
import { toExtraVarsYaml } from './extra-vars-yaml.js';
import { keepNoFacts } from './fact-files.js';
import { promptAnswers } from './prompts.js';
import { baseEnvironment, maskedEnvironment, runEnvironment } from './run-environment.js';
import { checkPrivateKey, normalizeKey } from './ssh-key.js';
import { RUN_IDENT, seenInside, type Workspace, writePrivateFile } from './workspace.js';

/** What a run of Ansible is made of, whatever it runs, without any reference to database or queue. */
export interface AnsibleRun {
  readonly jobId: number;
  readonly attempt: number;
  readonly inventory: AnsibleInventory;
  readonly extraVars: Readonly<Record<string, unknown>>;
  /** Keys of `extraVars` whose texts come from outside: `{{ }}` in them is never evaluated. */
  readonly unsafeKeys?: Iterable<string>;
  readonly jobType: 'run' | 'check';
  /** 0 leaves it to Ansible. */
  readonly forks?: number;
  readonly verbosity?: number;
  readonly diffMode?: boolean;
  readonly becomeEnabled?: boolean;
  readonly becomeMethod?: string;
  readonly becomeUser?: string;
  /** `root` when empty. */
  readonly remoteUser?: string;
  /** Answers to prompts; each also adds the option that asks. */
  readonly passwords?: { readonly ssh?: string; readonly become?: string };
  readonly sshKeyData?: string;
  readonly sshKeyUnlock?: string;
  readonly vaultPasswords?: readonly { readonly id?: string; readonly password: string }[];
  /** Additional variables of the environment (credential injectors, administrator's settings). */
  readonly env?: Readonly<Record<string, string>>;
  /** Names in `env` whose values are never shown, besides those whose name tells. */
  readonly secretEnv?: Iterable<string>;
  readonly inventoryId?: number;
  readonly projectRevision?: string;
  /** Searched for roles and collections instead of Ansible's own places. */
  readonly rolesPaths?: readonly string[];
  readonly collectionsPaths?: readonly string[];
  /** 0 or absent: none. */
  readonly timeoutSeconds?: number;
  /** Whether facts outlive the run (`fact-files.ts`). */
  readonly usesFacts?: boolean;
}

/** Everything the process needs, and what the API shows of it. */
export interface PreparedRun {
  readonly workspace: Workspace;
  /** Arguments of `ansible-runner`. */
  readonly args: readonly string[];
  /** Environment of `ansible-runner`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files of `env` that are needed only until the run has started. */
  readonly startFiles: readonly string[];
  readonly timeoutSeconds: number;
  /** JSON text of the argument list of Ansible. */
  readonly jobArgs: string;
  readonly jobCwd: string;
  /** Secrets as `**********`. */
  readonly jobEnv: Readonly<Record<string, string>>;
}

/** What of a run differs by what it runs; paths are those that the run sees. */
export interface AnsibleCommand {
  readonly program: 'ansible' | 'ansible-playbook';
  /** Options that go before those for inventory and variables. */
  readonly options: readonly string[];
  /** What goes behind them. */
  readonly target: readonly string[];
  /** How `ansible-runner` is told. */
  readonly runnerArguments: readonly string[];
  readonly cwd: string;
  /** Variables of the environment besides those every run has. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * `ansible-runner` stops reading after this time to look whether its playbook lives; has that ended meanwhile, the
 * output not read yet is lost, its last events with it. So it reads to the end, and `RunProcess` cares for what the
 * pauses are for: cancel, time limit, forks that outlive the playbook.
 */
const READ_SECONDS = 24 * 60 * 60;
/** Our own timer acts first; the runner's is for a run whose worker died. */
const TIMEOUT_MARGIN_SECONDS = 15;

/**
 * Writes the workspace of a run and says how to start it.
 *
 * @throws RunnerError when the key is not acceptable
 */
export async function prepareRun(
  run: AnsibleRun,
  workspace: Workspace,
  { program, options, target, runnerArguments, cwd, environment: further }: AnsibleCommand,
): Promise<PreparedRun> {
  const { inside } = workspace;
  const environment = {
    ...runEnvironment(run, inside.dir),
    ...(run.usesFacts ? {} : await keepNoFacts(workspace)),
    ...further,
  };
  const inventory = seenInside(workspace, await writeInventory(run.inventory, workspace));
  const startFiles = await writeEnvironment(run, workspace, options, environment);
  const base = baseEnvironment(process.env, workspace.mark);
  const extraVars = `@${join(inside.envDir, 'extravars')}`;
  return {
    workspace,
    args: [
      ...['run', '--json', `--ident=${RUN_IDENT}`, `--inventory=${inventory}`],
      ...runnerArguments,
      inside.dir,
    ],
    environment: base,
    startFiles,
    timeoutSeconds: run.timeoutSeconds ?? 0,
    jobArgs: jsonText([program, ...options, '-i', inventory, '-e', extraVars, ...target]),
    jobCwd: cwd,
    jobEnv: maskedEnvironment({ ...base, ...environment }, new Set(run.secretEnv)),
  };
}

/** Only a script can hand over `_meta.hostvars`: Ansible's reader of JSON files ignores them. */
async function writeInventory(inventory: AnsibleInventory, workspace: Workspace): Promise<string> {
  const script = join(workspace.inventoryDir, 'hosts');
  await writePrivateFile(join(workspace.envDir, 'inventory.json'), toCleanJson(inventory));
  const lines = ['#!/bin/sh', 'exec cat "${0%/*}/../env/inventory.json"', ''];
  await writePrivateFile(script, lines.join('\n'), 0o700);
  return script;
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
    await write('passwords', toCleanJson(promptAnswers(run))),
  ];
  if (run.sshKeyData) {
    startFiles.push(await write('ssh_key', normalizeKey(run.sshKeyData)));
    const keyFile = join(workspace.envDir, 'ssh_key');
    await checkPrivateKey(keyFile, run.sshKeyUnlock ?? '', workspace.dir);
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
