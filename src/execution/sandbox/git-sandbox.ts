import { isAbsolute } from 'node:path';
import type { Bind, SandboxSpec } from './command.js';

/** The folders and files of a git session, each at its own path. */
export interface GitSessionFolders {
  /** Folder of the session; not visible inside. */
  readonly root: string;
  /** Folder with the files that the worker writes for git: settings, keys, credentials. */
  readonly session: string;
  /** Home directory. */
  readonly home: string;
  /** Repositories of this machine that git fetches from. */
  readonly sources: readonly Bind[];
  /** The repository's own folder, and folders outside it that git reads. */
  readonly folders: readonly Bind[];
}

/** Environment variables of the worker that name certificates. */
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'];

/**
 * Returns the sandbox contents of git: the repository's own folder, the local sources, certificates, and the
 * files of the session. The network is independent of `JOB_NETWORK`, which applies to jobs.
 *
 * @param maxBytes maximum size of the repository, and thus of its largest file
 */
export function gitSandbox(
  paths: GitSessionFolders,
  hasNetwork: boolean,
  maxBytes: number | undefined,
): SandboxSpec {
  const { root, session, home, sources, folders } = paths;
  return {
    root,
    home,
    name: 'git',
    hasNetwork,
    ...(maxBytes === undefined ? {} : { maxFileBytes: maxBytes }),
    binds: [
      ...certificates(),
      // Sources come before the folders of git, which can be below a source.
      ...sources,
      { from: session, isPrivate: true },
      { from: home, isWritable: true },
      ...folders,
    ],
  };
}

/** Returns binds of the certificates that the environment names. */
export function certificates(): Bind[] {
  return CERTIFICATES.flatMap((name) => {
    const from = process.env[name];
    return from && isAbsolute(from) ? [{ from, isOptional: true }] : [];
  });
}
