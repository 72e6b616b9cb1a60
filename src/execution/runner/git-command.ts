import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { GitReach } from '../../code-hosts/git-reach.js';
import { GitSourceError, type GitSource } from '../../code-hosts/git-source.js';
import { PRINTED_TOO_MUCH, tooMuchFetched } from '../../runs/run-explanations.js';
import type { Bind, Fence } from '../boundary/command.js';
import { gitEnclosure, type GitSpace } from '../boundary/git-enclosure.js';
import { BoundedText } from './bounded-text.js';
import { CommandShell, type ShellCommand } from './command-shell.js';
import { GitEgress } from './git-egress.js';
import { writeSession } from './git-session-files.js';
import { makeSessionFolder } from './git-session-folders.js';
import { KnownHosts } from './known-hosts.js';
import { MaskedLines } from './masked-lines.js';
import { createMasker, type Masker } from './masker.js';
import { type EarlyEnd, LimitWatch } from './shell-limits.js';
import { removeDirectory } from './workspace.js';

/** What opens a private repository. */
export interface GitCredential {
  readonly username?: string;
  readonly password?: string;
  readonly sshKeyData?: string;
  readonly sshKeyUnlock?: string;
}

/** What a session may reach. */
export interface GitAccess {
  /** Null when nothing is fetched. */
  readonly source: GitSource | null;
  readonly credential: GitCredential;
  /** Null when nothing is fetched. */
  readonly reach: GitReach | null;
  readonly fence: Fence;
  /** The repository's own folder, which git writes to and whose size is watched. */
  readonly folder: string;
  /** Folders of others that git reads. */
  readonly shared: readonly string[];
}

/** A git command failed; `message` holds the end of its output, without secrets. */
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

/** Bounds and listeners of a series of git commands. */
export interface GitLimits {
  /** For the whole series; 0 or absent: none. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
  /** Receives the output as it comes, secrets masked. */
  readonly onOutput?: (text: string) => void;
  /** What the repository's folder may hold, in bytes; no limit when absent. */
  readonly maxFolderBytes?: number;
}

const MAX_OUTPUT = 1024 * 1024;

/** What a session is made of. */
interface SessionParts {
  readonly access: GitAccess;
  readonly limits: GitLimits;
  readonly egress: GitEgress;
  readonly environment: Readonly<Record<string, string>>;
  readonly masker: Masker;
  readonly space: Omit<GitSpace, 'sources'>;
}

/**
 * Runs git inside the boundary, with nothing of the machine's own settings, and with a credential that
 * only its own host is given.
 */
export class GitSession {
  private readonly deadline: number;
  private readonly printed = new BoundedText(MAX_OUTPUT);
  private readonly lines: MaskedLines;
  private shell: CommandShell | null = null;
  private ended: EarlyEnd | null = null;

  private constructor(private readonly parts: SessionParts) {
    const seconds = parts.limits.timeoutSeconds ?? 0;
    this.deadline = seconds > 0 ? Date.now() + seconds * 1000 : Infinity;
    this.lines = new MaskedLines(parts.masker, (masked) => {
      this.printed.add(masked);
      parts.limits.onOutput?.(masked);
    });
  }

  /** Opens a session, hands it to `work` and removes its private files. */
  static async use<T>(
    access: GitAccess,
    limits: GitLimits,
    work: (git: GitSession) => Promise<T>,
  ): Promise<T> {
    const root = await makeSessionFolder();
    const [session, home] = [join(root, 'session'), join(root, 'home')];
    for (const dir of [session, home]) await mkdir(dir, { mode: 0o700 });
    const egress = await GitEgress.open(session, access.reach);
    try {
      const knownHosts = await KnownHosts.open(home);
      const environment = await writeSession(session, access, egress, knownHosts.path);
      const folders: Bind[] = [
        { from: access.folder, isWritable: true },
        ...access.shared.map((from) => ({ from })),
      ];
      const space = { root, session, home, folders };
      const masker = maskerOf(access);
      const git = new GitSession({ access, limits, egress, environment, masker, space });
      try {
        if (access.source) await git.permit(access.source);
        return await work(git);
      } finally {
        await git.close();
        await knownHosts.learn(egress.sshNames);
      }
    } finally {
      await egress.close();
      await removeDirectory(root);
    }
  }

  /**
   * Lets the commands that follow fetch from a source besides the session's own.
   *
   * @throws GitError for an address that is refused
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
    // What is seen inside is settled when a boundary begins.
    if (egress.folders.length > before) await this.close();
  }

  /** Everything said so far, secrets masked, at most 1 MB. */
  get output(): string {
    return this.printed.text;
  }

  /** Runs a command whose output is shown. Throws {@link GitError}. */
  async run(args: readonly string[], cwd: string): Promise<void> {
    const { code } = await this.git(args, cwd, true);
    if (code === 0) return;
    const { refusals } = this.parts.egress;
    for (const text of refusals) this.lines.add(`${text}\n`);
    this.lines.end();
    throw new GitError(`git ${args[0]} failed: ${lastLines(this.printed.text)}`, this.printed.text);
  }

  /** Runs a question whose output is not shown; null when git answers no. */
  async ask(args: readonly string[], cwd: string): Promise<string | null> {
    const { code, stdout } = await this.git(args, cwd, false);
    return code === 0 ? stdout.trim() : null;
  }

  /** Removes what the session can write to, as it sees it. */
  async remove(paths: readonly string[], cwd: string): Promise<void> {
    const args = ['-rf', '--', ...paths];
    await this.execute({ file: 'rm', args, cwd, environment: {} }, true);
  }

  private git(args: readonly string[], cwd: string, isShown: boolean) {
    const environment = { ...this.parts.egress.env, GIT_CEILING_DIRECTORIES: join(cwd, '..') };
    return this.execute({ file: 'git', args, cwd, environment }, isShown);
  }

  private async execute(
    command: ShellCommand,
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
      if (shell.printedTooMuch) throw new GitError(PRINTED_TOO_MUCH, this.printed.text);
      if (code !== 0) this.checkLimits();
      return { code, stdout: stdout.text };
    } finally {
      this.lines.end();
      watch.release();
    }
  }

  private async open(): Promise<CommandShell> {
    const { access, limits, egress, environment, space } = this.parts;
    const enclosure = gitEnclosure({ ...space, sources: egress.folders }, limits.maxFolderBytes);
    const command = { file: 'sh', args: [], environment, cwd: space.home };
    return CommandShell.start(await access.fence.wrap(command, enclosure));
  }

  private async close(): Promise<void> {
    await this.shell?.close();
    this.shell = null;
  }

  private checkLimits(): void {
    const { signal, maxFolderBytes = 0 } = this.parts.limits;
    if (signal?.aborted) throw new GitError('git was canceled.', this.printed.text, 'canceled');
    if (Date.now() >= this.deadline) {
      throw new GitError('git did not finish in the allowed time.', this.printed.text, 'timeout');
    }
    if (this.ended === 'full')
      throw new GitError(tooMuchFetched(maxFolderBytes), this.printed.text);
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
