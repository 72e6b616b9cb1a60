import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/** Whether a host can have a file: some names lead out of the folder, or are none. */
export const canHaveFacts = (host: string): boolean =>
  !/[/\0]/.test(host) &&
  !['', '.', '..'].includes(host) &&
  Buffer.byteLength(host) <= MAX_NAME_BYTES;

/** Makes the folder, and hands facts of hosts to the play: JSON texts by host. */
export async function writeFacts(
  { dir }: Workspace,
  facts: readonly (readonly [host: string, text: string])[],
): Promise<void> {
  const folder = join(dir, ...FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [host, text] of facts) {
    const file = join(folder, host);
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
        stats: await statBelow(workspace, [...FOLDER, host]),
      })),
    );
    for (const { host, stats } of files) {
      if (stats === null) {
        if (handed.has(host)) yield { host, change: 'removed' };
      } else if (!handed.has(host) || stats.mtime.getTime() !== LONG_AGO.getTime()) {
        const text = await readBelow(workspace, [...FOLDER, host], maxBytes);
        yield text === null ? { host, change: 'refused' } : { host, change: 'written', text };
      }
    }
  }
}
