import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { NO_DESCRIPTORS, readBelow, statBelow } from './untrusted-files.js';
import { ARTIFACTS, RUN_IDENT, type Workspace } from './workspace.js';

/**
 * Folder of the fact cache of `ansible-runner` (`fact_cache`): one file per host, named like the
 * host.
 */
const FOLDER = [ARTIFACTS, RUN_IDENT, 'fact_cache'] as const;
/** Modification time of files written before the run; every file that Ansible writes is newer. */
const LONG_AGO = new Date('2000-01-01T00:00:00Z');
const MAX_NAME_BYTES = 255;
/** Number of files whose attributes are read in parallel. */
const BATCH = 100;

/**
 * Cache settings in addition to those of the runner. The timeout is off, because the worker decides
 * before a run which facts are fresh; Ansible's default is one day. The prefix is empty, because a
 * prefix from the project's configuration would hide the files.
 */
export const FACT_CACHE_ENVIRONMENT = {
  ANSIBLE_CACHE_PLUGIN_TIMEOUT: '0',
  ANSIBLE_CACHE_PLUGIN_PREFIX: '',
} as const;

/** Folder of the cache plugin that replaces the runner's plugin. */
const CACHE_PLUGINS = ['plugins', 'cache'] as const;

/**
 * Cache plugin that keeps facts in memory under the name `jsonfile`. `ansible-runner` sets the
 * cache `jsonfile` for every run, and Ansible exits without a message if a host name is not a valid
 * file name. Runs without fact storage use this plugin, which behaves like Ansible's default cache.
 */
const MEMORY_CACHE = `DOCUMENTATION = '''
name: jsonfile
short_description: Keeps facts in memory
description: Replaces the plugin of this name in runs that do not store facts.
author: Automation Controller
'''
from ansible.plugins.cache.memory import CacheModule
`;

/**
 * Cache plugin that stores facts as plain JSON in every release of Ansible. The plugin of Ansible
 * 2.19 and later stores a private format, which can also mark texts as trusted templates.
 */
const PLAIN_CACHE = `DOCUMENTATION = '''
name: jsonfile
short_description: Stores facts as plain JSON
description: Replaces the plugin of this name in runs that store facts.
author: Automation Controller
options:
  _uri:
    required: true
    description: Folder of the files
    type: path
    env: [{name: ANSIBLE_CACHE_PLUGIN_CONNECTION}]
  _prefix:
    description: Prefix of the file names
    env: [{name: ANSIBLE_CACHE_PLUGIN_PREFIX}]
  _timeout:
    description: Seconds until facts expire
    type: integer
    default: 0
    env: [{name: ANSIBLE_CACHE_PLUGIN_TIMEOUT}]
'''
import json
import os
from ansible.parsing.ajson import AnsibleJSONEncoder
from ansible.plugins.cache import BaseFileCacheModule

class CacheModule(BaseFileCacheModule):
    _persistent = False

    def _load(self, filepath):
        # A host has no facts if its name is also a folder.
        if os.path.isdir(filepath):
            raise FileNotFoundError(filepath)
        with open(filepath, encoding='utf-8') as file:
            return json.load(file)

    def _dump(self, value, filepath):
        with open(filepath, 'w', encoding='utf-8') as file:
            json.dump(value, file, cls=AnsibleJSONEncoder)
`;

/**
 * Installs the cache plugin of a run: facts are stored in the cache folder, or only kept in memory.
 *
 * @returns environment variables
 */
export async function installCachePlugin(
  { dir, inside }: Workspace,
  { storesFacts }: { storesFacts: boolean },
): Promise<Record<string, string>> {
  const file = join(dir, ...CACHE_PLUGINS, 'jsonfile.py');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, storesFacts ? PLAIN_CACHE : MEMORY_CACHE, { mode: 0o600 });
  return { ANSIBLE_CACHE_PLUGINS: join(inside.dir, ...CACHE_PLUGINS) };
}

/**
 * Makes Ansible read the fact files without `ansible-runner`.
 *
 * @returns environment variables
 */
export const readFactsIn = async (workspace: Workspace): Promise<Record<string, string>> => ({
  ...FACT_CACHE_ENVIRONMENT,
  ...(await installCachePlugin(workspace, { storesFacts: true })),
  ANSIBLE_CACHE_PLUGIN: 'jsonfile',
  ANSIBLE_CACHE_PLUGIN_CONNECTION: join(workspace.inside.dir, ...FOLDER),
});

/** Change of a host's facts by a play. `refused`: too large, or not a regular file. */
export type ChangedFacts =
  | { readonly host: string; readonly change: 'written'; readonly text: string }
  | { readonly host: string; readonly change: 'removed' }
  | { readonly host: string; readonly change: 'refused' };

const isTooLong = (part: string): boolean => Buffer.byteLength(part) > MAX_NAME_BYTES;

/**
 * Returns true if a host name is a valid path below the cache folder; a name with slashes uses
 * subfolders.
 */
const isValidPath = (host: string): boolean =>
  !host.includes('\0') &&
  host.split('/').every((part) => !['', '.', '..'].includes(part) && !isTooLong(part));

/** Returns the subfolders of the cache that a host name uses: `a` and `a/b` for `a/b/c`. */
function foldersOf(host: string): string[] {
  const path = normalize(`./${host}`);
  if (host.includes('\0') || path.startsWith('..') || path.split('/').some(isTooLong)) return [];
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

/**
 * Creates the folders of the cache. Without the folder of `rack01` Ansible aborts when it stores
 * facts of `rack01/02`.
 *
 * @returns predicate that is true for a host that can have facts: its name is not also a folder
 */
export async function createFactFolders(
  { dir }: Workspace,
  hosts: readonly string[],
): Promise<(host: string) => boolean> {
  const root = join(dir, ...FOLDER);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const folders = new Set(hosts.flatMap(foldersOf));
  for (const name of folders) await mkdir(join(root, name), { recursive: true, mode: 0o700 });
  return (host) => isValidPath(host) && !folders.has(host);
}

const pathOf = (host: string): readonly [string, ...string[]] => [...FOLDER, ...host.split('/')];

/** Writes the facts of hosts for the play, as JSON texts by host. */
export async function writeFacts(
  { dir }: Workspace,
  facts: readonly (readonly [host: string, text: string])[],
): Promise<void> {
  for (const [host, text] of facts) {
    const file = join(dir, ...FOLDER, host);
    await writeFile(file, text, { mode: 0o600 });
    await utimes(file, LONG_AGO, LONG_AGO);
  }
}

/**
 * Yields the fact changes of a finished play. Yields nothing if the folder is missing, because a missing
 * folder does not mean that hosts lost their facts.
 *
 * @param provided hosts whose facts the play received; only these hosts can be reported as removed
 * @throws if no descriptor is free, because the unread file can be valid
 */
export async function* changedFacts(
  workspace: Workspace,
  hosts: readonly string[],
  provided: ReadonlySet<string>,
  maxBytes: number,
): AsyncGenerator<ChangedFacts> {
  if (!(await statBelow(workspace, FOLDER))?.isDirectory()) return;
  for (let start = 0; start < hosts.length; start += BATCH) {
    const batch = hosts.slice(start, start + BATCH);
    const files = await Promise.all(
      batch.map(async (host) => ({
        host,
        stats: await statBelow(workspace, pathOf(host)),
      })),
    );
    for (const { host, stats } of files) {
      if (stats === null) {
        if (provided.has(host)) yield { host, change: 'removed' };
      } else if (!provided.has(host) || stats.mtime.getTime() !== LONG_AGO.getTime()) {
        const text = await readBelow(workspace, pathOf(host), maxBytes, NO_DESCRIPTORS);
        yield text === null ? { host, change: 'refused' } : { host, change: 'written', text };
      }
    }
  }
}
