import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitReach } from '../../code-hosts/git-reach.js';
import { GitSourceError, type GitSource } from '../../code-hosts/git-source.js';
import { OUTPUT_TOO_LARGE, repositoryTooLarge } from '../../runs/run-explanations.js';
import type { Bind, Command, Sandbox } from '../sandbox/command.js';
import { gitSandbox, type GitSessionFolders } from '../sandbox/git-sandbox.js';
import { BoundedText } from './bounded-text.js';
import { CommandShell } from './command-shell.js';
import { GitEgress } from './git-egress.js';
import { writeSession } from './git-session-files.js';
import { createSessionFolder } from './git-session-folders.js';
import { KnownHosts } from './known-hosts.js';
import { MaskedLines } from './masked-lines.js';
import { createMasker, type Masker } from './masker.js';
import { type EarlyEnd, LimitWatch } from './shell-limits.js';
import { removeDirectory } from './workspace.js';

/** Credential of a private repository. */
export interface GitCredential {
  readonly username?: string;
  readonly password?: string;
  readonly sshKeyData?: string;
  readonly sshKeyUnlock?: string;
}

export interface GitAccess {
  /** Source to fetch from; null if nothing is fetched. */
  readonly source: GitSource | null;
  readonly credential: GitCredential;
  /** Network rules; null if nothing is fetched. */
  readonly reach: GitReach | null;
  /** True if programs of the session reach other servers through a socket in its folder only. */
  readonly isOffline?: boolean;
  readonly sandbox: Sandbox;
  /** The repository's own folder. Git writes to it, and its size is limited. */
  readonly folder: string;
  /** Folders outside of the repository that git reads. */
  readonly shared: readonly string[];
}

/** Failed session; `message` is the reason, or the end of the output of a command, without secrets. */
export class GitError extends Error {
  override readonly name = 'GitError';
  constructor(
    message: string,
    readonly output: string,
    readonly reason: 'failed' | 'timeout' | 'canceled' = 'failed',
  ) {
    super(message);
  }
}

/** Limits and listeners of a series of git commands. */
export interface GitLimits {
  /** Timeout of the whole series, in seconds; 0 or absent: no timeout. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
  /** Receives the output as it arrives, with masked secrets. */
  readonly onOutput?: (text: string) => void;
  /** Maximum size of the repository's folder, in bytes; unlimited if absent. */
  readonly maxFolderBytes?: number;
}

const MAX_OUTPUT = 1024 * 1024;

/** Folder, environment and refused connections of another program than git. */
interface ProgramParts {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly refusals: readonly string[];
}

/** The components of a session. */
interface SessionParts {
  readonly access: GitAccess;
  readonly limits: GitLimits;
  readonly egress: GitEgress;
  readonly environment: Readonly<Record<string, string>>;
  readonly masker: Masker;
  readonly paths: Omit<GitSessionFolders, 'sources'>;
}

/**
 * Runs git inside the sandbox, independent of the machine's git settings. The credential is only
 * sent to its own host.
 */
export class GitSession {
  private readonly deadline: number;
  private readonly printed = new BoundedText(MAX_OUTPUT);
  private readonly lines: MaskedLines;
  private shell: CommandShell | null = null;
  private ended: EarlyEnd | null = null;

  private constructor(private readonly parts: SessionParts) {
    const seconds = parts.limits.timeoutSeconds ?? 0;
    this.deadline = seconds > 0 ? performance.now() + seconds * 1000 : Infinity;
    this.lines = new MaskedLines(parts.masker, (masked) => {
      this.printed.add(masked);
      parts.limits.onOutput?.(masked);
    });
  }

  /** Opens a session, passes it to `work`, and removes its private files afterwards. */
  static async use<T>(
    access: GitAccess,
    limits: GitLimits,
    work: (git: GitSession) => Promise<T>,
  ): Promise<T> {
    const root = await createSessionFolder();
    let egress: GitEgress | null = null;
    try {
      const [session, home] = [join(root, 'session'), join(root, 'home')];
      for (const dir of [session, home]) await mkdir(dir, { mode: 0o700 });
      egress = await GitEgress.open(session, access.reach);
      const knownHosts = await KnownHosts.open(home);
      const environment = await writeSession(session, access, egress, knownHosts.path);
      const folders: Bind[] = [
        { from: access.folder, isWritable: true },
        ...access.shared.map((from) => ({ from })),
      ];
      const paths = { root, session, home, folders };
      const masker = maskerOf(access);
      const git = new GitSession({ access, limits, egress, environment, masker, paths });
      try {
        if (access.source) await git.permit(access.source);
        return await work(git);
      } finally {
        await git.close();
        await knownHosts.storeNewKeys(egress.sshNames);
      }
    } finally {
      await egress?.close();
      await removeDirectory(root);
    }
  }

  /**
   * Permits the following commands to fetch from another source.
   *
   * @throws GitError for a refused address
   */
  async permit(source: GitSource): Promise<void> {
    const { egress } = this.parts;
    const before = egress.folders.length;
    try {
      await egress.permit(source);
    } catch (error) {
      if (!(error instanceof GitSourceError)) throw error;
      throw new GitError(error.message, this.printed.text);
    }
    // Visible folders are fixed when a sandbox starts, so a new folder needs a new sandbox.
    if (egress.folders.length > before) await this.close();
  }

  /** Folder that the commands can read, and no other account. */
  get folder(): string {
    return this.parts.paths.session;
  }

  /** Output of all commands so far, with masked secrets, at most 1 MB. */
  get output(): string {
    return this.printed.text;
  }

  /**
   * Runs a command whose output is displayed.
   *
   * @throws GitError
   */
  async run(args: readonly string[], cwd: string): Promise<void> {
    const { code } = await this.git(args, cwd, true);
    if (code !== 0) throw this.failure(`git ${args[0]}`, this.parts.egress.refusals);
  }

  private failure(command: string, refusals: readonly string[]): GitError {
    for (const text of refusals) this.lines.add(`${text}\n`);
    this.lines.end();
    return new GitError(`${command} failed: ${lastLines(this.printed.text)}`, this.printed.text);
  }

  /**
   * Runs a query whose output is not displayed; returns null if git exits with an error.
   *
   * @throws GitError if a limit is reached
   */
  async query(args: readonly string[], cwd: string): Promise<string | null> {
    const { code, stdout } = await this.git(args, cwd, false);
    return code === 0 ? stdout.trim() : null;
  }

  /**
   * Runs another program whose output is displayed, with the credential in its environment.
   *
   * @param refusals receives the connections that were refused during the command
   * @throws GitError
   */
  async runProgram(
    file: string,
    args: readonly string[],
    { cwd, environment, refusals }: ProgramParts,
  ): Promise<void> {
    const { credential, source } = this.parts.access;
    const { username = source?.username, password = source?.password } = credential;
    const variables = {
      ...environment,
      ...(username ? { SCM_USERNAME: username } : {}),
      ...(password ? { SCM_PASSWORD: password } : {}),
    };
    const { code } = await this.execute({ file, args, cwd, environment: variables }, true);
    if (code !== 0) throw this.failure('The import', refusals);
  }

  /**
   * Runs a program that checks the files and prints the result.
   *
   * @throws GitError with the result as its message if the program fails
   */
  async check(command: Command): Promise<void> {
    const { code, stdout } = await this.execute(command, true);
    if (code === 0) return;
    throw new GitError(stdout.trim() || lastLines(this.printed.text), this.printed.text);
  }

  /** Removes files that the session can write to, by their paths inside the sandbox. */
  async remove(paths: readonly string[], cwd: string): Promise<void> {
    const args = ['-rf', '--', ...paths];
    await this.execute({ file: 'rm', args, cwd, environment: {} }, true);
  }

  private git(args: readonly string[], cwd: string, isShown: boolean) {
    const environment = { ...this.parts.egress.env, GIT_CEILING_DIRECTORIES: join(cwd, '..') };
    return this.execute({ file: 'git', args, cwd, environment }, isShown);
  }

  private async execute(
    command: Command,
    isShown: boolean,
  ): Promise<{ code: number | null; stdout: string }> {
    this.checkLimits();
    const { limits, access } = this.parts;
    const shell = (this.shell ??= await this.open());
    const watch = new LimitWatch(
      { ...limits, deadline: this.deadline, folder: access.folder },
      () => shell.stop(),
    );
    const stdout = new BoundedText(MAX_OUTPUT);
    try {
      const code = await shell.run(command, {
        onStdout: (text) => {
          stdout.add(text);
          if (isShown) this.lines.add(text);
        },
        onStderr: (text) => {
          if (isShown) this.lines.add(text);
        },
      });
      this.ended ??= watch.reached;
      if (shell.exceededOutputLimit) throw new GitError(OUTPUT_TOO_LARGE, this.printed.text);
      if (code !== 0) this.checkLimits();
      return { code, stdout: stdout.text };
    } finally {
      this.lines.end();
      watch.release();
    }
  }

  private async open(): Promise<CommandShell> {
    const { access, limits, egress, environment, paths } = this.parts;
    const folders = { ...paths, sources: egress.folders };
    const spec = gitSandbox(folders, access.isOffline !== true, limits.maxFolderBytes);
    const command = { file: 'sh', args: [], environment, cwd: paths.home };
    return CommandShell.start(await access.sandbox.wrap(command, spec));
  }

  private async close(): Promise<void> {
    await this.shell?.close();
    this.shell = null;
  }

  private checkLimits(): void {
    const { signal, maxFolderBytes = 0 } = this.parts.limits;
    if (signal?.aborted) throw new GitError('git was canceled.', this.printed.text, 'canceled');
    if (performance.now() >= this.deadline) {
      throw new GitError('git did not finish in the allowed time.', this.printed.text, 'timeout');
    }
    if (this.ended === 'full')
      throw new GitError(repositoryTooLarge(maxFolderBytes), this.printed.text);
  }
}

function maskerOf({ source, credential }: GitAccess): Masker {
  const { password, sshKeyData, sshKeyUnlock } = credential;
  const secrets = [password, sshKeyData, sshKeyUnlock, source?.password];
  return createMasker(secrets.filter((secret) => secret !== undefined));
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(-500);
}
