import { isAbsolute } from 'node:path';
import type { Bind, Enclosure } from './command.js';

/** What a session of git works with, each at its own path. */
export interface GitSpace {
  /** Folder of the session, itself not seen inside. */
  readonly root: string;
  /** What the worker has written for git: settings, keys, answers. */
  readonly session: string;
  /** Home folder. */
  readonly home: string;
  /** Repositories of this machine that are fetched from. */
  readonly sources: readonly Bind[];
  /** The repository's own folder, and what it shares. */
  readonly folders: readonly Bind[];
}

/** Settings of the worker's environment that name certificates. */
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'];

/**
 * What git sees: the repository's own folder, and of the machine what it fetches from. The network is
 * the machine's, whatever `JOB_NETWORK` says of jobs: without it there is nothing to fetch.
 *
 * @param maxBytes what the repository may hold, and so the largest of its files
 */
export function gitEnclosure(space: GitSpace, maxBytes: number | undefined): Enclosure {
  const { root, session, home, sources, folders } = space;
  return {
    ...{ root, home, name: 'git', hasNetwork: true },
    ...(maxBytes === undefined ? {} : { maxFileBytes: maxBytes }),
    binds: [
      ...certificates(process.env),
      // Before what is git's own, which may lie below one of them.
      ...sources,
      { from: session, isPrivate: true },
      { from: home, isWritable: true },
      ...folders,
    ],
  };
}

/** The certificates that the environment names, wherever they lie. */
export function certificates(environment: NodeJS.ProcessEnv): Bind[] {
  return CERTIFICATES.flatMap((name) => {
    const from = environment[name];
    return from && isAbsolute(from) ? [{ from, isOptional: true }] : [];
  });
}
