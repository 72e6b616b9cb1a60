import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';

import { readBelow, statBelow } from './left-files.js';
import { ARTIFACTS, RUN_IDENT, type Workspace } from './workspace.js';

/** Where `ansible-runner` has Ansible keep facts (its `fact_cache`): a file a host, named like it. */
const FOLDER = [ARTIFACTS, RUN_IDENT, 'fact_cache'] as const;
/** When handed files were written, as they tell it: whatever Ansible writes is younger. */
const LONG_AGO = new Date('2000-01-01T00:00:00Z');
const MAX_NAME_BYTES = 255;
/** Files that are looked at together. */
const BATCH = 100;

/**
 * What sets the cache up besides the runner: that facts are fresh is decided before a run, not by
 * Ansible, whose own limit is a day; and a prefix of the project's would hide the files.
 */
export const FACT_CACHE_ENVIRONMENT = {
  ANSIBLE_CACHE_PLUGIN_TIMEOUT: '0',
  ANSIBLE_CACHE_PLUGIN_PREFIX: '',
} as const;

/** Folder of the cache plugin that replaces the one of the runner. */
const CACHE_PLUGINS = ['plugins', 'cache'] as const;

/**
 * `ansible-runner` sets the cache `jsonfile` for every run, and Ansible ends without a word when the name of a
 * host is no name of a file. Under this name a run without kept facts has the cache that Ansible has by itself.
 */
const MEMORY_CACHE = `DOCUMENTATION = '''
name: jsonfile
short_description: Keeps facts in memory
description: Stands in for the plugin of this name in runs whose facts are not kept.
author: Automation Controller
'''
from ansible.plugins.cache.memory import CacheModule
`;

/** Has Ansible keep facts in memory alone. @returns variables of the environment */
export async function keepNoFacts({ dir, inside }: Workspace): Promise<Record<string, string>> {
  const file = join(dir, ...CACHE_PLUGINS, 'jsonfile.py');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, MEMORY_CACHE, { mode: 0o600 });
  return { ANSIBLE_CACHE_PLUGINS: join(inside.dir, ...CACHE_PLUGINS) };
}

/** What has Ansible look into the files where no runner says so. */
export const readFactsIn = ({ inside }: Workspace): Record<string, string> => ({
  ...FACT_CACHE_ENVIRONMENT,
  ANSIBLE_CACHE_PLUGIN: 'jsonfile',
  ANSIBLE_CACHE_PLUGIN_CONNECTION: join(inside.dir, ...FOLDER),
});

/** What a play did with the facts of a host. `refused`: too large, or no plain file. */
export type ChangedFacts =
  | { readonly host: string; readonly change: 'written'; readonly text: string }
  | { readonly host: string; readonly change: 'removed' }
  | { readonly host: string; readonly change: 'refused' };

const isTooLong = (part: string): boolean => Buffer.byteLength(part) > MAX_NAME_BYTES;

/** Returns true for a host that can have a file, in folders where its name has slashes: no name may lead out of the cache. */
const hasFile = (host: string): boolean =>
  !host.includes('\0') &&
  host.split('/').every((part) => !['', '.', '..'].includes(part) && !isTooLong(part));

/** The folders inside the cache that the name of a host leads through: `a` and `a/b` for `a/b/c`. */
function foldersOf(host: string): string[] {
  const path = normalize(`./${host}`);
  if (host.includes('\0') || path.startsWith('..') || path.split('/').some(isTooLong)) return [];
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

/**
 * Makes the folders of the cache. Without that of `rack01` Ansible ends when it stores facts of `rack01/02`.
 *
 * @returns whether a host can have facts: no name may be a file and a folder
 */
export async function makeFactFolders(
  { dir }: Workspace,
  hosts: readonly string[],
): Promise<(host: string) => boolean> {
  const root = join(dir, ...FOLDER);
  await mkdir(root, { recursive: true, mode: 0o700 });
  // Ansible 2.19 and later puts the version of its format before the name.
  const folders = new Set(
    hosts.flatMap((host) => [...foldersOf(host), ...foldersOf(`s1_${host}`)]),
  );
  for (const name of folders) await mkdir(join(root, name), { recursive: true, mode: 0o700 });
  return (host) => hasFile(host) && !folders.has(host);
}

const pathOf = (host: string): readonly [string, ...string[]] => [...FOLDER, ...host.split('/')];

/** Hands facts of hosts to the play: JSON texts by host. */
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
 * What a play that is over has changed. Nothing when the folder is gone: that is no word on any host.
 *
 * @param handed hosts whose facts were handed to the play; others cannot have been removed
 */
export async function* changedFacts(
  workspace: Workspace,
  hosts: readonly string[],
  handed: ReadonlySet<string>,
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
        if (handed.has(host)) yield { host, change: 'removed' };
      } else if (!handed.has(host) || stats.mtime.getTime() !== LONG_AGO.getTime()) {
        const text = await readBelow(workspace, pathOf(host), maxBytes);
        yield text === null ? { host, change: 'refused' } : { host, change: 'written', text };
      }
    }
  }
}
