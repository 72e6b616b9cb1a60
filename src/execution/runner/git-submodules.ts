import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseGitSource } from '../../code-hosts/git-source.js';
import type { GitSession } from './git-command.js';

/** How the submodules of a work copy are updated. */
export interface SubmoduleOptions {
  /** Take the newest commit of their branches instead of the recorded one. */
  readonly track: boolean;
  readonly schemes: readonly string[];
  /** Repository of another work copy, whose submodules' commits are taken. */
  readonly synced?: string;
}

/** A submodule that git takes for one. */
interface Submodule {
  readonly name: string;
  readonly path: string;
  /** Address, relative ones resolved. */
  readonly url: string;
}

/** A work copy, and where its repository is. */
interface WorkCopy {
  readonly dir: string;
  readonly gitDir: string;
}

const GITLINK = /^160000 [0-9a-f]+ \d\t(.*)$/s;

/**
 * Updates the submodules of a work copy, level by level: where a submodule comes from is said by what
 * was fetched before it.
 */
export async function updateSubmodules(
  git: GitSession,
  copy: WorkCopy,
  options: SubmoduleOptions,
): Promise<void> {
  const { dir, gitDir } = copy;
  const hasModules = await access(join(dir, '.gitmodules')).then(
    () => true,
    () => false,
  );
  if (!hasModules) return;
  await git.run(['submodule', '--quiet', 'init'], dir);
  const submodules = await findSubmodules(git, dir);
  for (const { url } of submodules) await git.permit(parseGitSource(url, options.schemes));
  await connect(git, copy, submodules);
  await git.run(['submodule', 'update', '--force', ...(options.track ? ['--remote'] : [])], dir);
  const inside = await git.ask(
    ['submodule', '--quiet', 'foreach', 'printf "%s\\0%s\\0" "$name" "$PWD"'],
    dir,
  );
  const names = entriesOf(inside);
  for (let index = 0; index + 1 < names.length; index += 2) {
    const [name = '', path = ''] = names.slice(index);
    const synced = options.synced ? join(options.synced, 'modules', name) : undefined;
    const commit = synced ? await commitIn(synced) : null;
    if (commit) await git.run(['checkout', '--force', '--detach', '--quiet', commit, '--'], path);
    await updateSubmodules(
      git,
      { dir: path, gitDir: join(gitDir, 'modules', name) },
      { ...options, ...(synced ? { synced } : {}) },
    );
  }
}

/** Returns the commit that is checked out of a repository; null where a branch is, or none. */
async function commitIn(gitDir: string): Promise<string | null> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  return /^[0-9a-f]{40,64}$/.test(head.trim()) ? head.trim() : null;
}

/**
 * Prepares the submodules for their update. The link from their folder to their repository was left by
 * whoever was there before, and is made anew; what they have fetched before is used again.
 */
async function connect(
  git: GitSession,
  { dir, gitDir }: WorkCopy,
  submodules: readonly Submodule[],
): Promise<void> {
  if (submodules.length === 0) return;
  const paths = submodules.map(({ path }) => path);
  const listed = await git.ask(
    ['--literal-pathspecs', 'ls-files', '--stage', '-z', '--', ...paths],
    dir,
  );
  // Anything else may be a link that leads elsewhere.
  const links = entriesOf(listed).flatMap((entry) => GITLINK.exec(entry)?.[1] ?? []);
  await git.remove(
    links.map((path) => join(path, '.git')),
    dir,
  );
  for (const { name, url } of submodules) {
    // Fails where the submodule has not been fetched before.
    const config = join(gitDir, 'modules', name, 'config');
    await git.ask(['config', '--file', config, 'remote.origin.url', url], dir);
  }
}

/** The submodules that the work copy names and git has accepted. */
async function findSubmodules(git: GitSession, dir: string): Promise<Submodule[]> {
  const settings = async (...file: string[]): Promise<Map<string, string>> => {
    const keys = ['--get-regexp', '^submodule\\..*\\.(url|path)$'];
    return new Map(
      entriesOf(await git.ask(['config', '-z', ...file, ...keys], dir)).map(settingOf),
    );
  };
  const [named, accepted] = [await settings('--file', '.gitmodules'), await settings('--local')];
  return [...accepted].flatMap(([key, url]) => {
    const [, name] = /^submodule\.(.*)\.url$/s.exec(key) ?? [];
    const path = name === undefined ? undefined : named.get(`submodule.${name}.path`);
    return name === undefined || path === undefined ? [] : [{ name, path, url }];
  });
}

const entriesOf = (output: string | null): string[] =>
  (output ?? '').split('\0').filter((entry) => entry !== '');

function settingOf(entry: string): [name: string, value: string] {
  const [name = '', ...value] = entry.split('\n');
  return [name, value.join('\n')];
}
