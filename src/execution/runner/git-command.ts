import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { GitReach } from '../../code-hosts/git-reach.js';
import { GitSourceError, type GitSource } from '../../code-hosts/git-source.js';
import { GitEgress, sshName } from './git-egress.js';
import { createMasker } from './masker.js';
import { checkPrivateKey, normalizeKey } from './ssh-key.js';
import { removeDirectory, writePrivateFile } from './workspace.js';

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
}

const MAX_OUTPUT = 1024 * 1024;
const KILL_GRACE_MS = 2_000;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const INHERITED = /^(PATH|LANG|LC_ALL|TZ|HOME|TMPDIR|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/;

/**
 * Settings of every call. `safe.directory` lets repositories of other system users be read; it must stand in a
 * file, because git does not hand `-c` on to the process that serves a local repository.
 */
const GIT_CONFIG = `[safe]
	directory = *
[core]
	hooksPath = /dev/null
	askPass =
[credential]
	helper =
[protocol "ext"]
	allow = never
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
[init]
	defaultBranch = main
`;

/** Runs git with nothing of the machine's own settings, and with a credential that only its own host is given. */
export class GitSession {
  private readonly deadline: number;
  private text = '';
  /** The beginning of a line: a secret is only recognized in one piece. */
  private unfinished = '';

  private constructor(
    private readonly env: Record<string, string>,
    private readonly egress: GitEgress,
    private readonly mask: (text: string) => string,
    private readonly limits: GitLimits,
  ) {
    const seconds = limits.timeoutSeconds ?? 0;
    this.deadline = seconds > 0 ? Date.now() + seconds * 1000 : Infinity;
  }

  /** Opens a session, hands it to `work` and removes its private files. */
  static async use<T>(
    access: GitAccess,
    limits: GitLimits,
    work: (git: GitSession) => Promise<T>,
  ): Promise<T> {
    const { source, credential } = access;
    const dir = await mkdtemp(join(tmpdir(), 'git-'));
    const egress = await GitEgress.open(dir, access.reach);
    try {
      const env = await writeSession(dir, access, egress);
      const { password, sshKeyData, sshKeyUnlock } = credential;
      const secrets = [password, sshKeyData, sshKeyUnlock, source?.password];
      const masker = createMasker(secrets.filter((secret) => secret !== undefined));
      const session = new GitSession(env, egress, masker.text, limits);
      if (source) await session.permit(source);
      return await work(session);
    } finally {
      await egress.close();
      await removeDirectory(dir);
    }
  }

  /**
   * Lets the commands that follow fetch from a source besides the session's own.
   *
   * @throws GitError for an address that is refused
   */
  async permit(source: GitSource): Promise<void> {
    try {
      await this.egress.permit(source);
    } catch (error) {
      if (!(error instanceof GitSourceError)) throw error;
      throw new GitError(error.message, this.text);
    }
  }

  /** Everything said so far, secrets masked, at most 1 MB. */
  get output(): string {
    return this.text;
  }

  /** Runs a command whose output is shown; resolves with its standard output. Throws {@link GitError}. */
  async run(args: readonly string[], cwd: string): Promise<string> {
    const { code, stdout } = await this.spawn(args, cwd, true);
    if (code === 0) return stdout;
    const { refusals } = this.egress;
    for (const text of refusals) this.show(`${text}\n`);
    throw new GitError(`git ${args[0]} failed: ${lastLines(this.text)}`, this.text);
  }

  /** Runs a question whose output is not shown; null when git answers no. */
  async ask(args: readonly string[], cwd: string): Promise<string | null> {
    const { code, stdout } = await this.spawn(args, cwd, false);
    return code === 0 ? stdout.trim() : null;
  }

  private async spawn(
    args: readonly string[],
    cwd: string,
    isShown: boolean,
  ): Promise<{ code: number | null; stdout: string }> {
    this.checkLimits();
    const child = spawn('git', args, {
      cwd,
      env: { ...this.env, ...this.egress.env, GIT_CEILING_DIRECTORIES: join(cwd, '..') },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stop = endable(child);
    const timer = Number.isFinite(this.deadline)
      ? setTimeout(stop, Math.min(Math.max(this.deadline - Date.now(), 0), MAX_TIMER_MS))
      : null;
    this.limits.signal?.addEventListener('abort', stop, { once: true });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MAX_OUTPUT) stdout += text;
      if (isShown) this.show(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (isShown) this.show(text);
    });
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      if (code !== 0) this.checkLimits();
      return { code, stdout };
    } finally {
      this.show('\n');
      if (timer) clearTimeout(timer);
      this.limits.signal?.removeEventListener('abort', stop);
    }
  }

  private checkLimits(): void {
    if (this.limits.signal?.aborted) throw new GitError('git was canceled.', this.text, 'canceled');
    if (Date.now() >= this.deadline) {
      throw new GitError('git did not finish in the allowed time.', this.text, 'timeout');
    }
  }

  private show(text: string): void {
    const lines = this.unfinished + text;
    const end = lines.lastIndexOf('\n') + 1;
    this.unfinished = lines.slice(end);
    const masked = this.mask(lines.slice(0, end));
    if (masked.trim() === '') return;
    if (this.text.length < MAX_OUTPUT) this.text += masked;
    this.limits.onOutput?.(masked);
  }
}

/** A function that ends a git command with its helpers (ssh, remote-https), which share its process group. */
function endable(child: ChildProcess): () => void {
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      child.kill(name);
    }
  };
  return () => {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), KILL_GRACE_MS);
    child.once('close', () => clearTimeout(timer));
  };
}

async function writeSession(
  dir: string,
  { source, credential }: GitAccess,
  egress: GitEgress,
): Promise<Record<string, string>> {
  const file = (name: string): string => join(dir, name);
  await writeFile(file('config'), GIT_CONFIG, { mode: 0o600 });
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  const askpass = await writeAskpass(file, source, credential);
  const key = credential.sshKeyData ? file('key') : null;
  if (key) {
    await writePrivateFile(key, normalizeKey(credential.sshKeyData ?? ''));
    await checkPrivateKey(key, credential.sshKeyUnlock ?? '', dir);
  }
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: file('config'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: askpass,
    SSH_ASKPASS: askpass,
    SSH_ASKPASS_REQUIRE: 'force',
    GIT_SSH_COMMAND: sshCommand(key, egress),
  };
}

function sshCommand(key: string | null, { sshOptions }: GitEgress): string {
  const options = ['StrictHostKeyChecking=accept-new', 'ConnectTimeout=20'];
  if (key) options.push('IdentitiesOnly=yes', 'IdentityAgent=none');
  const identity = key ? [`-i '${key}'`] : [];
  return ['ssh', sshOptions, ...identity, ...options.map((option) => `-o ${option}`)].join(' ');
}

/**
 * A script that answers exactly the prompts of the project's own host: the address of a submodule is chosen by
 * whoever writes to the repository, and must not be given the credential.
 */
async function writeAskpass(
  file: (name: string) => string,
  source: GitSource | null,
  credential: GitCredential,
): Promise<string> {
  const username = credential.username || source?.username || '';
  const password = credential.password || source?.password || '';
  const encoded = encodeURIComponent(username).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const origin = `${source?.scheme}://`;
  const answers: [string, string][] = [
    [`Username for '${origin}${source?.host}': `, username],
    [`Password for '${origin}${encoded}@${source?.host}': `, password],
    [`${username}@${source ? sshName(source) : ''}'s password: `, password],
    [`Enter passphrase for key '${file('key')}': `, credential.sshKeyUnlock ?? ''],
  ];
  const lines = ['#!/bin/sh'];
  for (const [index, [prompt, answer]] of answers.entries()) {
    await writePrivateFile(file(`prompt-${index}`), prompt);
    await writePrivateFile(file(`answer-${index}`), `${answer}\n`);
    if (answer === '') continue;
    lines.push(
      `if [ "$1" = "$(cat "\${0%/*}/prompt-${index}")" ]; then exec cat "\${0%/*}/answer-${index}"; fi`,
    );
  }
  lines.push('exit 1', '');
  await writePrivateFile(file('askpass'), lines.join('\n'), 0o700);
  return file('askpass');
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(-500);
}
