import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseGitSource } from '../../code-hosts/git-source.js';
import type { GitSession } from './git-command.js';

/** Options for updating the submodules of a working copy. */
export interface SubmoduleOptions {
  /** True to use the newest commit of their branches instead of the recorded commit. */
  readonly track: boolean;
  readonly schemes: readonly string[];
  /** Repository of another working copy, whose submodule commits are used. */
  readonly synced?: string;
}

/** A submodule that git has registered. */
interface Submodule {
  readonly name: string;
  readonly path: string;
  /** Address; relative addresses are resolved. */
  readonly url: string;
}

/** A working copy and the folder of its repository. */
interface WorkingCopy {
  readonly dir: string;
  readonly gitDir: string;
}

const GITLINK = /^160000 [0-9a-f]+ \d\t(.*)$/s;

/**
 * Updates the submodules of a working copy level by level, because each level names the sources of the
 * next.
 */
export async function updateSubmodules(
  git: GitSession,
  copy: WorkingCopy,
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
  const output = await git.query(
    ['submodule', '--quiet', 'foreach', 'printf "%s\\0%s\\0" "$name" "$PWD"'],
    dir,
  );
  const names = splitByNul(output);
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

/**
 * Returns the commit that is checked out of a repository; null if a branch or nothing is checked
 * out.
 */
async function commitIn(gitDir: string): Promise<string | null> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  return /^[0-9a-f]{40,64}$/.test(head.trim()) ? head.trim() : null;
}

/**
 * Prepares the submodules for their update. The link from a submodule's folder to its repository
 * can come from an earlier run and is written anew; already fetched objects are reused.
 */
async function connect(
  git: GitSession,
  { dir, gitDir }: WorkingCopy,
  submodules: readonly Submodule[],
): Promise<void> {
  if (submodules.length === 0) return;
  const paths = submodules.map(({ path }) => path);
  const listed = await git.query(
    ['--literal-pathspecs', 'ls-files', '--stage', '-z', '--', ...paths],
    dir,
  );
  // Only gitlinks: another entry can be a symbolic link that leads elsewhere.
  const links = splitByNul(listed).flatMap((entry) => GITLINK.exec(entry)?.[1] ?? []);
  await git.remove(
    links.map((path) => join(path, '.git')),
    dir,
  );
  for (const { name, url } of submodules) {
    // Fails if the submodule was not fetched before.
    const config = join(gitDir, 'modules', name, 'config');
    await git.query(['config', '--file', config, 'remote.origin.url', url], dir);
  }
}

/** Returns the submodules that the working copy names and git has registered. */
async function findSubmodules(git: GitSession, dir: string): Promise<Submodule[]> {
  const settings = async (...file: string[]): Promise<Map<string, string>> => {
    const keys = ['--get-regexp', '^submodule\\..*\\.(url|path)$'];
    return new Map(
      splitByNul(await git.query(['config', '-z', ...file, ...keys], dir)).map(settingOf),
    );
  };
  const [named, registered] = [await settings('--file', '.gitmodules'), await settings('--local')];
  return [...registered].flatMap(([key, url]) => {
    const [, name] = /^submodule\.(.*)\.url$/s.exec(key) ?? [];
    const path = name === undefined ? undefined : named.get(`submodule.${name}.path`);
    return name === undefined || path === undefined ? [] : [{ name, path, url }];
  });
}

const splitByNul = (output: string | null): string[] =>
  (output ?? '').split('\0').filter((entry) => entry !== '');

function settingOf(entry: string): [name: string, value: string] {
  const [name = '', ...value] = entry.split('\n');
  return [name, value.join('\n')];
}
