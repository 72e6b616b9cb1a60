import { dirname, join, resolve } from 'node:path';
import type { GitReach } from '../../code-hosts/git-reach.js';
import type { Sandbox } from '../sandbox/command.js';
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
import { objectsOf, renewRepository, shareObjects } from './git-repository.js';
import { verifySignature } from './content-signature.js';
import { updateSubmodules } from './git-submodules.js';
import { removeDirectory } from './workspace.js';

/** The source of a project. */
export interface GitProject {
  readonly url: string;
  /** Additional refs to fetch, separated by spaces or commas. */
  readonly refspec?: string;
  readonly credential?: GitCredential;
  readonly reach: GitReach;
}

/** Signature check of the files. */
export interface SignedFiles {
  /** GPG public key that must have signed the files; absent if they need no signature. */
  readonly publicKey?: string;
}

export interface SyncRequest extends GitProject, GitLimits, SignedFiles {
  /** Branch, tag or commit; the remote's default branch if empty. */
  readonly branch?: string;
  /** True to discard local changes and untracked files. */
  readonly clean?: boolean;
  /** True to remove the folder first. */
  readonly deleteOnUpdate?: boolean;
  /** True to use the newest commit of the submodules' branches instead of the recorded commit. */
  readonly trackSubmodules?: boolean;
  /** The project's own folder. The caller guarantees one sync at a time. */
  readonly destination: string;
  readonly sandbox: Sandbox;
}

/** Request for a working copy of one job. */
export interface CheckoutRequest extends GitLimits, SignedFiles {
  /** Folder of a synced project; only read. */
  readonly repository: string;
  /** Full commit id, branch, tag or `refs/...` name. */
  readonly revision: string;
  /**
   * Source for commits that the repository lacks; if absent, only commits of the repository can be
   * checked out.
   */
  readonly source?: GitProject;
  /**
   * Commits of the submodules: those that the project records (the default), those of the synced
   * folder, or the newest commits of their branches.
   */
  readonly submodules?: 'recorded' | 'synced' | 'newest';
  /** Destination folder; it does not exist yet or is empty. */
  readonly destination: string;
  readonly sandbox: Sandbox;
}

/** Result of a sync or checkout. */
export interface GitResult {
  /** Full commit id. */
  readonly revision: string;
  /** Output of git, with masked secrets. */
  readonly output: string;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT_ID = /^[0-9a-f]{7,64}$/;
const HEAD_REF = 'refs/controller/head';
/** Name without a commit. */
const NO_REF = 'refs/controller/none';
const WANTED_REF = 'refs/controller/wanted';
const FETCH_OPTIONS = ['--force', '--no-recurse-submodules', '--no-write-fetch-head'];
/** All branches and tags. Tags that are fetched by the option `--tags` would not be pruned. */
const ALL_NAMES = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

/**
 * Updates a project's folder to the newest commit of its branch.
 *
 * @throws GitSourceError for invalid addresses and names, GitError if git fails, RunnerError for an
 *   invalid key
 */
export async function syncProject(request: SyncRequest): Promise<GitResult> {
  const source = parseGitSource(request.url, request.reach.schemes);
  const refspecs = parseRefspecs(request.refspec ?? '');
  const branch = request.branch ? checkRef(request.branch) : '';
  const dir = resolve(request.destination);
  const access = accessTo(request, source, { folder: dir, shared: [], sandbox: request.sandbox });
  return GitSession.use(access, request, async (git) => {
    if (request.deleteOnUpdate) await removeDirectory(dir);
    await renewRepository(dir, source.url);
    await fetch(git, dir, source.url, [
      ...ALL_NAMES,
      ...(branch ? [] : [`+HEAD:${HEAD_REF}`]),
      ...refspecs,
    ]);
    const revision = await findCommit(git, dir, branch, { url: source.url, refspecs });
    if (!request.clean) await refuseLocalChanges(git, dir, revision);
    // Files of a checkout that does not end must not be taken for local changes by the next sync.
    await git.run(['symbolic-ref', 'HEAD', NO_REF], dir);
    await git.run(['checkout', '--force', '--detach', '--quiet', revision, '--'], dir);
    if (request.clean) await git.run(['clean', '-ffdxq'], dir);
    const track = request.trackSubmodules ?? false;
    const copy = { dir, gitDir: join(dir, '.git') };
    await updateSubmodules(git, copy, { track, schemes: request.reach.schemes });
    if (request.publicKey) await verifySignature(git, dir, request.publicKey);
    return { revision, output: git.output };
  });
}

/**
 * Creates a working copy of exactly one commit. The working copy shares the objects of the synced project
 * and does not write to the project's folder, so any number of jobs can check out at the same time.
 * A commit that the project lacks (a webhook can be faster than the next sync) is fetched into the
 * working copy. A name that can move, such as a branch, is resolved at the source if the request has a source.
 *
 * @throws GitSourceError, GitError, RunnerError as {@link syncProject}
 */
export async function checkoutRevision(request: CheckoutRequest): Promise<GitResult> {
  const { source: project, repository } = request;
  const name = checkRef(request.revision);
  const source = project ? parseGitSource(project.url, project.reach.schemes) : null;
  const refspecs = parseRefspecs(project?.refspec ?? '');
  const dir = resolve(request.destination);
  const objects = await objectsOf(repository);
  const folders = { folder: dir, shared: [dirname(objects)], sandbox: request.sandbox };
  return GitSession.use(accessTo(project, source, folders), request, async (git) => {
    await renewRepository(dir, source?.url ?? null);
    await shareObjects(dir, objects);
    const isPresent = COMMIT_ID.test(name) && (await commitOf(git, dir, name)) !== null;
    const revision = await revisionFor({ git, dir, repository, name, isPresent, source, refspecs });
    await git.run(['checkout', '--force', '--detach', '--quiet', revision, '--'], dir);
    const copy = { dir, gitDir: join(dir, '.git') };
    const { submodules = 'recorded' } = request;
    await updateSubmodules(git, copy, {
      track: submodules !== 'recorded',
      schemes: project?.reach.schemes ?? [],
      ...(submodules === 'synced' ? { synced: dirname(objects) } : {}),
    });
    if (request.publicKey) await verifySignature(git, dir, request.publicKey);
    return { revision, output: git.output };
  });
}

interface RevisionRequest {
  readonly git: GitSession;
  readonly dir: string;
  readonly repository: string;
  readonly name: string;
  readonly isPresent: boolean;
  readonly source: GitSource | null;
  readonly refspecs: readonly string[];
}

async function revisionFor(request: RevisionRequest): Promise<string> {
  const { git, dir, name, source, refspecs } = request;
  if (request.isPresent) return name;
  if (source) {
    await fetch(git, dir, source.url, [...ALL_NAMES, ...refspecs]);
    return findCommit(git, dir, name, { url: source.url, refspecs });
  }
  const revision = await resolveName(git, resolve(request.repository), name, []);
  if (revision === null) throw notFound(git, name);
  return revision;
}

/** Returns the source and the folders that a session for a project can access. */
export function accessTo(
  project: Pick<GitProject, 'reach' | 'credential'> | undefined,
  source: GitSource | null,
  folders: Pick<GitAccess, 'folder' | 'shared' | 'sandbox'>,
): GitAccess {
  return {
    ...folders,
    source,
    reach: project?.reach ?? null,
    credential: project?.credential ?? {},
  };
}

async function fetch(
  git: GitSession,
  dir: string,
  url: string,
  refspecs: readonly string[],
): Promise<void> {
  await git.run(['fetch', ...FETCH_OPTIONS, '--prune', '--', url, ...refspecs], dir);
}

/**
 * Returns the commit of a name after a fetch of all branches. If a full commit id, `HEAD` or a `refs/...` name
 * is not among the fetched commits, the commit is fetched from the source.
 *
 * @throws GitError if the source lacks the name
 */
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
  const isFetchable = COMMIT_ID.test(name) || name === 'HEAD' || name.startsWith('refs/');
  if (isFetchable) {
    // The branches were fetched just before, so a refusal means that the source lacks this name.
    const done = await git.query(
      ['fetch', ...FETCH_OPTIONS, '--no-tags', '--', url, `+${name}:${WANTED_REF}`],
      dir,
    );
    // After a refusal, an earlier sync can have left another commit.
    const fetched = done === null ? null : await commitOf(git, dir, WANTED_REF);
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
  return git.query(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], dir);
}

function notFound(git: GitSession, name: string): GitError {
  return new GitError(`The revision "${name}" does not exist in the repository.`, git.output);
}

async function refuseLocalChanges(git: GitSession, dir: string, revision: string): Promise<void> {
  const head = await commitOf(git, dir, 'HEAD');
  if (head === null || head === revision) return;
  const changes = await git.query(
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
