import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { GitReach } from '../../code-hosts/git-reach.js';
import {
  type GitAccess,
  type GitCredential,
  GitError,
  type GitLimits,
  GitSession,
} from './git-command.js';
import {
  checkRef,
  type GitSource,
  parseGitSource,
  parseRefspecs,
} from '../../code-hosts/git-source.js';
import { removeDirectory } from './workspace.js';

/** Where a project comes from. */
export interface GitProject extends GitLimits {
  readonly url: string;
  /** Additional refs to fetch, separated by blanks or commas. */
  readonly refspec?: string;
  readonly credential?: GitCredential;
  readonly reach: GitReach;
}

/** One project update. */
export interface SyncRequest extends GitProject {
  /** Branch, tag or commit; the remote's default branch when empty. */
  readonly branch?: string;
  /** Discard local changes and unknown files. */
  readonly clean?: boolean;
  /** Remove the folder first. */
  readonly deleteOnUpdate?: boolean;
  /** Take the newest commit of the submodules' branches instead of the recorded one. */
  readonly trackSubmodules?: boolean;
  /** The project's own folder; one sync at a time, which the caller guarantees. */
  readonly destination: string;
}

/** A work copy for one job. */
export interface CheckoutRequest {
  /** Folder of a synced project; only read. */
  readonly repository: string;
  /** A full commit id, a branch, a tag or a `refs/...` name. */
  readonly revision: string;
  /** Where to fetch what the repository does not have; without it only what is there can be checked out. */
  readonly source?: GitProject;
  /** A folder that does not exist yet or is empty. */
  readonly destination: string;
}

/** What a sync or checkout arrived at. */
export interface GitResult {
  /** Full commit id. */
  readonly revision: string;
  /** Output of git, secrets masked. */
  readonly output: string;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT_ID = /^[0-9a-f]{7,64}$/;
const HEAD_REF = 'refs/controller/head';
const WANTED_REF = 'refs/controller/wanted';
const STALE_LOCKS = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock'];
const FETCH_OPTIONS = ['--force', '--no-recurse-submodules', '--no-write-fetch-head'];
const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';

/**
 * Brings a project's folder to the state of its branch.
 *
 * @throws GitSourceError for unacceptable addresses and names, GitError when git fails, RunnerError for a bad key
 */
export async function syncProject(request: SyncRequest): Promise<GitResult> {
  const source = parseGitSource(request.url, request.reach.schemes);
  const refspecs = parseRefspecs(request.refspec ?? '');
  const branch = request.branch ? checkRef(request.branch) : '';
  const dir = resolve(request.destination);
  return withGit(request, source, async (git) => {
    if (request.deleteOnUpdate) await removeDirectory(dir);
    await openRepository(git, dir, source.url);
    await fetch(git, dir, source.url, [
      ALL_BRANCHES,
      ...(branch ? [] : [`+HEAD:${HEAD_REF}`]),
      ...refspecs,
    ]);
    const revision = await findCommit(git, dir, branch, { url: source.url, refspecs });
    if (!request.clean) await refuseLocalChanges(git, dir, revision);
    await git.run(['checkout', '--force', '--detach', '--quiet', revision, '--'], dir);
    if (request.clean) await git.run(['clean', '-ffdxq'], dir);
    const track = request.trackSubmodules ?? false;
    await updateSubmodules(git, dir, { track, schemes: request.reach.schemes });
    return { revision, output: git.output };
  });
}

/**
 * Makes a work copy of exactly one commit. Objects are shared with the synced project, whose folder is not
 * written to, so any number of jobs can do this at the same time. What the project does not have yet (a
 * webhook is faster than the next sync) is fetched into the work copy. A name that can move (a branch) is
 * always asked of the source.
 *
 * @throws GitSourceError, GitError, RunnerError as {@link syncProject}
 */
export async function checkoutRevision(request: CheckoutRequest): Promise<GitResult> {
  const { source: project, repository } = request;
  const wanted = checkRef(request.revision);
  const source = project ? parseGitSource(project.url, project.reach.schemes) : null;
  const refspecs = parseRefspecs(project?.refspec ?? '');
  const dir = resolve(request.destination);
  return withGit(project ?? { reach: null }, source, async (git) => {
    await openRepository(git, dir, source?.url ?? null);
    await shareObjects(git, dir, resolve(repository));
    const isThere = COMMIT_ID.test(wanted) && (await commitOf(git, dir, wanted)) !== null;
    const revision = await revisionFor({ git, dir, repository, wanted, isThere, source, refspecs });
    await git.run(['checkout', '--force', '--detach', '--quiet', revision, '--'], dir);
    await updateSubmodules(git, dir, { track: false, schemes: project?.reach.schemes ?? [] });
    return { revision, output: git.output };
  });
}

interface Wanted {
  readonly git: GitSession;
  readonly dir: string;
  readonly repository: string;
  readonly wanted: string;
  readonly isThere: boolean;
  readonly source: GitSource | null;
  readonly refspecs: readonly string[];
}

async function revisionFor(request: Wanted): Promise<string> {
  const { git, dir, wanted, source, refspecs } = request;
  if (request.isThere) return wanted;
  if (source) {
    await fetch(git, dir, source.url, [ALL_BRANCHES, ...refspecs]);
    return findCommit(git, dir, wanted, { url: source.url, refspecs });
  }
  const revision = await resolveName(git, resolve(request.repository), wanted, []);
  if (revision === null) throw notFound(git, wanted);
  return revision;
}

function withGit<T>(
  project: Pick<GitAccess, 'reach'> & Pick<GitProject, 'credential'> & GitLimits,
  source: GitSource | null,
  work: (git: GitSession) => Promise<T>,
): Promise<T> {
  const { reach, credential = {} } = project;
  return GitSession.use({ source, credential, reach }, project, work);
}

async function openRepository(git: GitSession, dir: string, url: string | null): Promise<void> {
  const hasRepository = await access(join(dir, '.git')).then(
    () => true,
    () => false,
  );
  if (!hasRepository) {
    await mkdir(dir, { recursive: true });
    await git.run(['init', '--quiet'], dir);
  }
  // Left by a git that was killed: there is one sync at a time, so nobody holds them.
  for (const name of STALE_LOCKS) await rm(join(dir, '.git', name), { force: true });
  // Relative addresses of submodules are resolved against this; it holds no secret.
  if (url) await git.run(['config', 'remote.origin.url', url], dir);
}

async function shareObjects(git: GitSession, dir: string, repository: string): Promise<void> {
  const objects = await git.ask(['rev-parse', '--git-path', 'objects'], repository);
  if (objects === null) throw new GitError('The project has no repository yet.', git.output);
  await writeFile(join(dir, '.git/objects/info/alternates'), `${resolve(repository, objects)}\n`);
}

async function fetch(
  git: GitSession,
  dir: string,
  url: string,
  refspecs: readonly string[],
): Promise<void> {
  await git.run(['fetch', ...FETCH_OPTIONS, '--prune', '--tags', '--', url, ...refspecs], dir);
}

/** The commit of a name after a fetch of all branches; asks the source for names that are no branch or tag. */
async function findCommit(
  git: GitSession,
  dir: string,
  name: string,
  { url, refspecs }: { url: string; refspecs: readonly string[] },
): Promise<string> {
  const known = name
    ? await resolveName(git, dir, name, refspecs)
    : await commitOf(git, dir, HEAD_REF);
  if (known !== null) return known;
  const canAsk = COMMIT_ID.test(name) || name.startsWith('refs/');
  if (canAsk) {
    // The branches have just been fetched, so a refusal means that the source does not have this one.
    await git.ask(
      ['fetch', ...FETCH_OPTIONS, '--no-tags', '--', url, `+${name}:${WANTED_REF}`],
      dir,
    );
    const fetched = await commitOf(git, dir, WANTED_REF);
    if (fetched !== null) return fetched;
  }
  throw notFound(git, name || 'HEAD');
}

async function resolveName(
  git: GitSession,
  dir: string,
  name: string,
  refspecs: readonly string[],
): Promise<string | null> {
  const candidates = [`refs/remotes/origin/${name}`, `refs/tags/${name}`];
  for (const refspec of refspecs) {
    const [from, to = ''] = refspec.replace(/^\+/, '').split(':');
    if (to.endsWith('/*')) candidates.push(`${to.slice(0, -1)}${name}`);
    else if (from === name) candidates.push(to);
  }
  if (SHORT_COMMIT_ID.test(name)) candidates.push(name);
  for (const candidate of candidates) {
    const commit = await commitOf(git, dir, candidate);
    if (commit !== null) return commit;
  }
  return null;
}

function commitOf(git: GitSession, dir: string, name: string): Promise<string | null> {
  return git.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], dir);
}

function notFound(git: GitSession, name: string): GitError {
  return new GitError(`The revision "${name}" does not exist in the repository.`, git.output);
}

async function refuseLocalChanges(git: GitSession, dir: string, revision: string): Promise<void> {
  const head = await commitOf(git, dir, 'HEAD');
  if (head === null || head === revision) return;
  const changes = await git.ask(
    ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules'],
    dir,
  );
  if (changes) {
    throw new GitError(
      'Local modifications exist in the project folder (see scm_clean).',
      git.output,
    );
  }
}

/** Level by level: where a submodule comes from is said by what was fetched before it. */
async function updateSubmodules(
  git: GitSession,
  dir: string,
  options: { readonly track: boolean; readonly schemes: readonly string[] },
): Promise<void> {
  const hasModules = await access(join(dir, '.gitmodules')).then(
    () => true,
    () => false,
  );
  if (!hasModules) return;
  await git.run(['submodule', '--quiet', 'sync'], dir);
  await git.run(['submodule', '--quiet', 'init'], dir);
  for (const url of await submoduleUrls(git, dir)) {
    await git.permit(parseGitSource(url, options.schemes));
  }
  await git.run(['submodule', 'update', '--force', ...(options.track ? ['--remote'] : [])], dir);
  const inside = await git.ask(['submodule', '--quiet', 'foreach', 'printf "%s\\0" "$PWD"'], dir);
  for (const submodule of entriesOf(inside)) await updateSubmodules(git, submodule, options);
}

/** Addresses of the submodules that the work copy names, relative ones resolved. */
async function submoduleUrls(git: GitSession, dir: string): Promise<string[]> {
  const ask = (...file: string[]): Promise<string | null> =>
    git.ask(['config', '-z', ...file, '--get-regexp', '^submodule\\..*\\.url$'], dir);
  const named = entriesOf(await ask('--file', '.gitmodules')).map((entry) => settingOf(entry)[0]);
  const resolved = new Map(entriesOf(await ask('--local')).map(settingOf));
  return [...new Set(named.flatMap((name) => resolved.get(name) ?? []))];
}

const entriesOf = (output: string | null): string[] =>
  (output ?? '').split('\0').filter((entry) => entry !== '');

function settingOf(entry: string): [name: string, value: string] {
  const [name = '', ...value] = entry.split('\n');
  return [name, value.join('\n')];
}
