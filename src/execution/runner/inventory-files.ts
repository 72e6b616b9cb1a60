import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';

import { jsonText } from '../../common/fields/json-text.js';
import type { AnsibleInventory } from '../../inventories/ansible-inventory.js';
import { toCleanJson } from './clean-text.js';
import { baseEnvironment, maskedEnvironment } from './run-environment.js';
import { seenInside, type Workspace, writePrivateFile } from './workspace.js';

/** What Ansible reads an inventory from. */
export type InventoryOrigin =
  | {
      readonly kind: 'plugin';
      readonly fileName: string;
      readonly options: object;
      /** Inventories that are read before it, in that order: what `writeInput` has written. */
      readonly inputs?: readonly string[];
    }
  | { readonly kind: 'files'; readonly projectDir: string; readonly path: string };

/** How an inventory is read, described without any reference to database or queue. */
export interface InventoryReading {
  readonly origin: InventoryOrigin;
  /** 0, 1 or 2. */
  readonly verbosity: number;
  /** Variables of the environment, over those every reading has. */
  readonly env: Readonly<Record<string, string>>;
  /** Names in `env` whose values are never shown. */
  readonly secretEnv: Iterable<string>;
}

/** What is started, and what the API shows of it. */
export interface PreparedReading {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** JSON text of the whole command. */
  readonly jobArgs: string;
  readonly jobEnv: Readonly<Record<string, string>>;
}

/** Ansible goes on where one of several inventories cannot be read, unless it is told otherwise. */
const READS_INPUTS = {
  ANSIBLE_INVENTORY_ENABLED: 'auto,script',
  ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'True',
} as const;

/** File below `artifacts/` that Ansible writes what it has read to. */
export const OUTPUT = 'output.json';
const VERBOSITY = [[], ['-vvv'], ['-vvvvv']];

/**
 * Writes the workspace of a reading and says how to start it
 * (docs/contract/inventory-sources.md#how-it-is-read).
 *
 * @throws Error for a path that does not exist in the project, or leads out of it
 */
export async function prepareReading(
  { origin, verbosity, env, secretEnv }: InventoryReading,
  workspace: Workspace,
): Promise<PreparedReading> {
  const { inside } = workspace;
  await mkdir(join(workspace.dir, 'tmp'), { mode: 0o700 });
  const { path, folder } = await placeOrigin(origin, workspace);
  const inputs = origin.kind === 'plugin' ? origin.inputs : undefined;
  const args = [
    ...['--list', '--export', ...[...(inputs ?? []), path].flatMap((one) => ['-i', one])],
    ...['--output', join(inside.artifactsDir, OUTPUT), '--playbook-dir', folder],
    ...(VERBOSITY[verbosity] ?? []),
  ];
  const environment = {
    ...baseEnvironment(process.env, workspace.mark),
    ANSIBLE_LOCAL_TEMP: join(inside.dir, 'tmp'),
    ANSIBLE_NOCOLOR: 'True',
    ANSIBLE_INVENTORY_UNPARSED_FAILED: 'True',
    ANSIBLE_INVENTORY_EXPORT: 'True',
    ANSIBLE_VERBOSE_TO_STDERR: 'True',
    ...(origin.kind === 'plugin' ? { ANSIBLE_INVENTORY_ENABLED: 'auto' } : {}),
    ...(inputs ? READS_INPUTS : {}),
    ...env,
  };
  return {
    ...{ args, cwd: folder, environment },
    jobArgs: jsonText(['ansible-inventory', ...args]),
    jobEnv: maskedEnvironment(environment, new Set(secretEnv)),
  };
}

/** @returns path of the inventory and of the folder beside which variables are looked for, as the run sees them */
async function placeOrigin(
  origin: InventoryOrigin,
  workspace: Workspace,
): Promise<{ path: string; folder: string }> {
  if (origin.kind === 'plugin') {
    const path = join(workspace.inventoryDir, origin.fileName);
    // JSON is YAML, and nothing of it is taken for something else.
    await writePrivateFile(path, toCleanJson(origin.options), 0o700);
    return { path: seenInside(workspace, path), folder: workspace.inside.inventoryDir };
  }
  const root = await realpath(origin.projectDir);
  const path = resolve(root, origin.path);
  const target = await realpath(path).catch(() => {
    throw new Error(`"${origin.path}" does not exist in the project.`);
  });
  if (target !== root && !target.startsWith(root + sep)) {
    throw new Error(`"${origin.path}" is not a path inside the project.`);
  }
  const folder = (await stat(target)).isDirectory() ? path : dirname(path);
  return { path: seenInside(workspace, path), folder: seenInside(workspace, folder) };
}

/** An inventory as a script, as Ansible reads variables of hosts from no file. @returns its path inside */
export async function writeInput(
  workspace: Workspace,
  id: number,
  document: AnsibleInventory,
): Promise<string> {
  const script = join(workspace.inventoryDir, `hosts_${id}`);
  const file = `hosts_${id}.json`;
  await writePrivateFile(join(workspace.envDir, file), toCleanJson(document));
  const lines = ['#!/bin/sh', `exec cat "\${0%/*}/../env/${file}"`, ''];
  await writePrivateFile(script, lines.join('\n'), 0o700);
  return seenInside(workspace, script);
}

/** A script that tells what was read, for asking Ansible which hosts a pattern means. */
export async function writeEcho(workspace: Workspace): Promise<string> {
  const script = join(workspace.inventoryDir, 'read');
  const lines = ['#!/bin/sh', `exec cat "\${0%/*}/../artifacts/${OUTPUT}"`, ''];
  await writePrivateFile(script, lines.join('\n'), 0o700);
  return seenInside(workspace, script);
}
