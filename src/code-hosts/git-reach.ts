import type { LookupAddress } from 'node:dns';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AddressGuard, type Resolver } from '../outbound/address-guard.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { GitSourceError, hostnameOf, parseGitSource, type GitSource } from './git-source.js';

/** Settings for the permitted sources of projects. */
export interface GitReachSettings {
  PROJECT_SCM_SCHEMES: readonly string[];
  PROJECT_FILE_ROOTS: readonly string[];
  OUTBOUND_ALLOW: readonly string[];
  DATA_DIR: string;
}

/** Local folder that git can fetch from. */
export interface OpenFolder {
  readonly path: string;
  readonly realPath: string;
}

/** Permitted sources of git (docs/contract/operations.md#where-projects-come-from). */
export class GitReach {
  readonly schemes: readonly string[];
  readonly guard: AddressGuard;
  private readonly roots: readonly string[];
  private readonly dataFolder: string;

  /** @param resolver replaced by tests to simulate a hostile name server */
  constructor(settings: GitReachSettings, resolver?: Resolver) {
    this.schemes = settings.PROJECT_SCM_SCHEMES;
    this.guard = new AddressGuard(settings.OUTBOUND_ALLOW, resolver);
    this.roots = settings.PROJECT_FILE_ROOTS.map((root) => resolve(root));
    this.dataFolder = resolve(settings.DATA_DIR);
  }

  /**
   * Validates an address by its text alone, so that a request can report errors immediately. Names are
   * resolved when git connects.
   *
   * @throws GitSourceError
   */
  check(url: string): GitSource {
    const source = parseGitSource(url, this.schemes);
    if (source.host !== '') this.guardName(hostnameOf(source));
    else if (!this.permits(folderOf(source), this.roots, this.dataFolder)) throw denied(source.url);
    return source;
  }

  /**
   * Resolves the host of a source and verifies its addresses.
   *
   * @returns addresses to connect to instead of the name
   * @throws OutboundError `address` or `dns`
   */
  locate(source: GitSource): Promise<readonly LookupAddress[]> {
    return this.guard.resolve(hostnameOf(source));
  }

  /**
   * Verifies a source without a host.
   *
   * @returns its folder as configured, and with symbolic links resolved
   * @throws GitSourceError if the folder is not permitted
   */
  async openFolder(source: GitSource): Promise<OpenFolder> {
    const path = folderOf(source);
    const [realPath, dataFolder, ...roots] = await Promise.all(
      [path, this.dataFolder, ...this.roots].map(resolvedLinks),
    );
    if (!realPath || !dataFolder || !this.permits(realPath, roots, dataFolder))
      throw denied(source.url);
    return { path, realPath };
  }

  private guardName(host: string): void {
    try {
      this.guard.assertName(host);
    } catch (error) {
      throw error instanceof OutboundError ? new GitSourceError(error.message) : error;
    }
  }

  private permits(folder: string, roots: readonly string[], dataFolder: string): boolean {
    // A folder that contains the data folder would expose it too.
    const overlapsData = isBelow(folder, dataFolder) || isBelow(dataFolder, folder);
    return roots.some((root) => isBelow(folder, root)) && !overlapsData;
  }
}

const folderOf = ({ url }: GitSource): string =>
  resolve(url.startsWith('/') ? url : fileURLToPath(url));

function isBelow(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath !== '..' && !relativePath.startsWith('../') && !isAbsolute(relativePath);
}

/** Resolves symbolic links. A path that does not exist is returned unchanged. */
const resolvedLinks = (path: string): Promise<string> => realpath(path).catch(() => path);

const denied = (url: string): GitSourceError =>
  new GitSourceError(
    `${url} is not below a folder that projects may come from. Such folders must be listed in PROJECT_FILE_ROOTS.`,
  );
