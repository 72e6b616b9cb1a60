import type { LookupAddress } from 'node:dns';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitReach } from '../../code-hosts/git-reach.js';
import { GitSourceError, hostnameOf, type GitSource } from '../../code-hosts/git-source.js';
import { GuardedProxy } from '../sandbox/guarded-proxy.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import type { Bind } from '../sandbox/command.js';
import { operatorProxy } from './operator-proxy.js';

/** A permitted host and its address. */
interface Pin {
  readonly source: GitSource;
  readonly address: LookupAddress;
}

const SSH_CONFIG = 'ssh_config';

/**
 * The network connections of git, all of them checked by the guard
 * (docs/contract/operations.md#where-projects-come-from):
 *
 * - http and https use a proxy of this program, which checks the address of every connection,
 *   including connections of redirects and submodules; if the operator has a proxy, that proxy is used
 *   instead;
 * - ssh and git connect to the address that was checked, and only to hosts that were permitted
 *   before.
 */
export class GitEgress {
  private readonly pins: Pin[] = [];
  private readonly permittedFolders: Bind[] = [];

  private constructor(
    private readonly dir: string,
    private readonly reach: GitReach | null,
    private readonly proxy: GuardedProxy | null,
  ) {}

  /**
   * @param dir private folder of the session
   * @param reach network rules; null: nothing is fetched
   */
  static async open(dir: string, reach: GitReach | null): Promise<GitEgress> {
    await writeSshConfig(dir, []);
    const isGuarded = reach !== null && operatorProxy() === null;
    return new GitEgress(dir, reach, isGuarded ? await GuardedProxy.open(reach.guard) : null);
  }

  /** Environment of the next command. */
  get env(): Record<string, string> {
    const schemes = this.reach?.schemes ?? [];
    const env: Record<string, string> = {
      GIT_ALLOW_PROTOCOL: schemes.filter((scheme) => scheme !== 'ext').join(':'),
      // Overrides the settings of the repository, which are not trusted; git passes these variables
      // on to submodules.
      GIT_CONFIG_COUNT: String(this.config.length),
    };
    for (const [index, [key, value]] of this.config.entries()) {
      env[`GIT_CONFIG_KEY_${index}`] = key;
      env[`GIT_CONFIG_VALUE_${index}`] = value;
    }
    return this.proxy === null ? { ...env, ...operatorProxy() } : env;
  }

  private get config(): (readonly [key: string, value: string])[] {
    return [
      ...(this.proxy ? [['http.proxy', this.proxy.url] as const] : []),
      ...this.pins.flatMap(({ source, address }) =>
        source.scheme === 'git' ? [pinnedUrl(source, address)] : [],
      ),
    ];
  }

  /** Command-line options of ssh. */
  get sshOptions(): string {
    return `-F '${join(this.dir, SSH_CONFIG)}'`;
  }

  /** Host names that ssh can connect to, in the notation of ssh. */
  get sshNames(): readonly string[] {
    return this.pins
      .filter(({ source }) => source.scheme === 'ssh')
      .map(({ source }) => sshName(source));
  }

  /** Folders of this machine that git can fetch from. */
  get folders(): readonly Bind[] {
    return this.permittedFolders;
  }

  /** Reasons for refused connections, as sentences. */
  get refusals(): readonly string[] {
    return this.proxy?.refusals ?? [];
  }

  /**
   * Permits the following commands to fetch from a source.
   *
   * @throws GitSourceError for a refused address
   */
  async permit(source: GitSource): Promise<void> {
    if (source.host === '') return this.permitFolder(source);
    const [address] = await this.addresses(source);
    if (!address) return;
    this.pins.push({ source, address });
    await writeSshConfig(this.dir, this.pins);
  }

  close(): Promise<void> {
    return this.proxy?.close() ?? Promise.resolve();
  }

  private async permitFolder(source: GitSource): Promise<void> {
    const folder = await this.reach?.openFolder(source);
    if (!folder || this.permittedFolders.some(({ to }) => to === folder.path)) return;
    this.permittedFolders.push({ from: folder.realPath, to: folder.path, isOptional: true });
  }

  private async addresses(source: GitSource): Promise<readonly LookupAddress[]> {
    try {
      return (await this.reach?.locate(source)) ?? [];
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // The operator's proxy may resolve a name that this machine cannot resolve, and then decides.
      const isProxied = this.proxy === null && source.scheme.startsWith('http');
      if (isProxied && error.kind === 'dns') return [];
      throw new GitSourceError(error.message);
    }
  }
}

function writeSshConfig(dir: string, pins: readonly Pin[]): Promise<void> {
  const hosts = pins.flatMap(({ source, address }) =>
    source.scheme === 'ssh' ? [pinnedHost(source, address)] : [],
  );
  const otherHosts = 'Host *\n  ProxyCommand exit 1\n';
  return writeFile(join(dir, SSH_CONFIG), [...hosts, otherHosts].join(''), { mode: 0o600 });
}

/**
 * Returns the name under which ssh stores the key of a host, and which the password prompt of ssh shows.
 */
export function sshName(source: Pick<GitSource, 'host'>): string {
  const hostname = bareHostname(source);
  const port = /:(\d+)$/.exec(source.host)?.[1];
  return port === undefined || port === '22' ? hostname : `[${hostname}]:${port}`;
}

const bareHostname = (source: Pick<GitSource, 'host'>): string =>
  hostnameOf(source).replace(/^\[(.*)\]$/, '$1');

const pinnedHost = (source: GitSource, { address }: LookupAddress): string =>
  [
    `Host ${bareHostname(source)}`,
    `  HostName ${address}`,
    `  HostKeyAlias ${sshName(source)}`,
    '  ProxyCommand none\n',
  ].join('\n');

function pinnedUrl(source: GitSource, { address, family }: LookupAddress): [string, string] {
  const host = family === 6 ? `[${address}]` : address;
  const pinned = source.host.replace(hostnameOf(source), host);
  return [`url.git://${pinned}/.insteadOf`, `git://${source.host}/`];
}
