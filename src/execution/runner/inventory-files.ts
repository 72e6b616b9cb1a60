import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { jsonText } from '../../common/fields/json-text.js';
import type { AnsibleInventory } from '../../inventories/ansible-inventory.js';
import { toCleanJson } from './clean-text.js';
import { baseEnvironment, maskedEnvironment } from './run-environment.js';
import { pathInside, type Workspace, writeInventoryScript, writePrivateFile } from './workspace.js';

/** The input that Ansible reads an inventory from. */
export type InventoryOrigin =
  | {
      readonly kind: 'plugin';
      readonly fileName: string;
      readonly options: object;
      /**
       * Paths of inventories that Ansible reads first, in this order, as `writeInput` wrote them.
       */
      readonly inputs?: readonly string[];
    }
  | { readonly kind: 'files'; readonly projectDir: string; readonly path: string };

/** Input of reading an inventory, independent of the database and the queue. */
export interface InventoryReading {
  readonly origin: InventoryOrigin;
  /** Verbosity: 0, 1 or 2. */
  readonly verbosity: number;
  /** Environment variables, which override those of every reading. */
  readonly env: Readonly<Record<string, string>>;
  /** Names in `env` whose values are always masked. */
  readonly secretEnv: Iterable<string>;
}

/** The command to start, and the parts that the API shows. */
export interface PreparedReading {
  readonly args: readonly string[];
  readonly jobCwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The whole command as JSON text. */
  readonly jobArgs: string;
  readonly jobEnv: Readonly<Record<string, string>>;
}

/**
 * Environment of `ansible-inventory` for several inventories. By default Ansible continues if one of them cannot
 * be read.
 */
const INPUTS_ENVIRONMENT = {
  ANSIBLE_INVENTORY_ENABLED: 'auto,script',
  ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'True',
} as const;

/** Name of the file below `artifacts/` to which Ansible writes the inventory. */
export const OUTPUT = 'output.json';
const VERBOSITY = [[], ['-vvv'], ['-vvvvv']];

/**
 * Writes the workspace of a reading and returns how to start it
 * (docs/contract/inventory-sources.md#how-it-is-read).
 *
 * @throws Error for a path that does not exist in the project or leads out of it
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
    '--list',
    '--export',
    ...[...(inputs ?? []), path].flatMap((file) => ['-i', file]),
    '--output',
    join(inside.artifactsDir, OUTPUT),
    '--playbook-dir',
    folder,
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
    ...(inputs ? INPUTS_ENVIRONMENT : {}),
    ...env,
  };
  return {
    args,
    jobCwd: folder,
    environment,
    jobArgs: jsonText(['ansible-inventory', ...args]),
    jobEnv: maskedEnvironment(environment, new Set(secretEnv)),
  };
}

/**
 * @returns path of the inventory, and of the folder in which Ansible looks for variable files, as the
 *   run sees them
 */
async function placeOrigin(
  origin: InventoryOrigin,
  workspace: Workspace,
): Promise<{ path: string; folder: string }> {
  if (origin.kind === 'plugin') {
    const path = join(workspace.inventoryDir, origin.fileName);
    // JSON is valid YAML, and none of its values can be misread.
    await writePrivateFile(path, toCleanJson(origin.options), 0o700);
    return { path: pathInside(workspace, path), folder: workspace.inside.inventoryDir };
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
  return { path: pathInside(workspace, path), folder: pathInside(workspace, folder) };
}

/** Writes an inventory that Ansible can read. @returns path of its script as the run sees it */
export async function writeInput(
  workspace: Workspace,
  id: number,
  document: AnsibleInventory,
): Promise<string> {
  const file = `hosts_${id}.json`;
  await writePrivateFile(join(workspace.envDir, file), toCleanJson(document));
  return writeInventoryScript(workspace, `hosts_${id}`, `env/${file}`);
}

/**
 * Writes a script that prints the inventory that was read, so that Ansible can resolve a host
 * pattern against it.
 */
export const writeEcho = (workspace: Workspace): Promise<string> =>
  writeInventoryScript(workspace, 'read', `artifacts/${OUTPUT}`);
