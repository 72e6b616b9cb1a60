import type { LookupAddress } from 'node:dns';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitReach } from '../../code-hosts/git-reach.js';
import { GitSourceError, hostnameOf, type GitSource } from '../../code-hosts/git-source.js';
import { GuardedProxy } from '../../common/outbound/guarded-proxy.js';
import { OutboundError } from '../../common/outbound/outbound-error.js';
import type { Bind } from '../boundary/command.js';
import { operatorProxy } from './operator-proxy.js';

/** A host that may be connected to, and the address it has. */
interface Pin {
  readonly source: GitSource;
  readonly address: LookupAddress;
}

const SSH_CONFIG = 'ssh_config';

/**
 * The ways out of git, each through the guard (docs/contract/operations.md#where-projects-come-from):
 *
 * - http and https through a proxy of ours, which checks the address of every connection, those that
 *   redirects and submodules lead to included; where the operator has a proxy, through that one;
 * - ssh and git to the address that was checked, and to no host that was not permitted before.
 */
export class GitEgress {
  private readonly pins: Pin[] = [];
  private readonly opened: Bind[] = [];

  private constructor(
    private readonly dir: string,
    private readonly reach: GitReach | null,
    private readonly proxy: GuardedProxy | null,
  ) {}

  /**
   * @param dir private folder of the session
   * @param reach null: nothing is fetched
   */
  static async open(dir: string, reach: GitReach | null): Promise<GitEgress> {
    const isGuarded = reach !== null && Object.keys(operatorProxy(process.env)).length === 0;
    const proxy = isGuarded ? await GuardedProxy.open(reach.guard) : null;
    const egress = new GitEgress(dir, reach, proxy);
    await egress.writeSshConfig();
    return egress;
  }

  /** Environment of the next command. */
  get env(): Record<string, string> {
    const schemes = this.reach?.schemes ?? [];
    const env: Record<string, string> = {
      GIT_ALLOW_PROTOCOL: schemes.filter((scheme) => scheme !== 'ext').join(':'),
      // Over the settings of the repository, which are not ours; git hands these on to submodules.
      GIT_CONFIG_COUNT: String(this.config.length),
    };
    for (const [index, [key, value]] of this.config.entries()) {
      env[`GIT_CONFIG_KEY_${index}`] = key;
      env[`GIT_CONFIG_VALUE_${index}`] = value;
    }
    return this.proxy === null ? { ...env, ...operatorProxy(process.env) } : env;
  }

  private get config(): (readonly [key: string, value: string])[] {
    return [
      ...(this.proxy ? [['http.proxy', this.proxy.url] as const] : []),
      ...this.pins.flatMap(({ source, address }) =>
        source.scheme === 'git' ? [pinnedUrl(source, address)] : [],
      ),
    ];
  }

  /** Options of ssh. */
  get sshOptions(): string {
    return `-F '${join(this.dir, SSH_CONFIG)}'`;
  }

  /** Hosts that ssh may be sent to, as it calls them. */
  get sshNames(): readonly string[] {
    return this.pins
      .filter(({ source }) => source.scheme === 'ssh')
      .map(({ source }) => sshName(source));
  }

  /** Folders of this machine that may be fetched from. */
  get folders(): readonly Bind[] {
    return this.opened;
  }

  /** Why connections were refused, in sentences. */
  get refusals(): readonly string[] {
    return [...new Set(this.proxy?.refusals)];
  }

  /**
   * Lets what follows fetch from a source.
   *
   * @throws GitSourceError for an address that is refused
   */
  async permit(source: GitSource): Promise<void> {
    if (source.host === '') return this.permitFolder(source);
    const [address] = await this.addresses(source);
    if (!address) return;
    this.pins.push({ source, address });
    await this.writeSshConfig();
  }

  close(): Promise<void> {
    return this.proxy?.close() ?? Promise.resolve();
  }

  private async permitFolder(source: GitSource): Promise<void> {
    const folder = await this.reach?.openFolder(source);
    if (!folder || this.opened.some(({ to }) => to === folder.named)) return;
    this.opened.push({ from: folder.real, to: folder.named, isOptional: true });
  }

  private async addresses(source: GitSource): Promise<readonly LookupAddress[]> {
    try {
      return (await this.reach?.locate(source)) ?? [];
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // Names that only the operator's proxy can resolve are its to judge.
      const isProxied = this.proxy === null && source.scheme.startsWith('http');
      if (isProxied && error.kind === 'dns') return [];
      throw new GitSourceError(error.message);
    }
  }

  private writeSshConfig(): Promise<void> {
    const hosts = this.pins.flatMap(({ source, address }) =>
      source.scheme === 'ssh' ? [pinnedHost(source, address)] : [],
    );
    const none = 'Host *\n  ProxyCommand exit 1\n';
    return writeFile(join(this.dir, SSH_CONFIG), [...hosts, none].join(''), { mode: 0o600 });
  }
}

/** Name under which ssh remembers the key of a host, and asks for a password of it. */
export function sshName(source: Pick<GitSource, 'host'>): string {
  const hostname = bare(source);
  const port = /:(\d+)$/.exec(source.host)?.[1];
  return port === undefined || port === '22' ? hostname : `[${hostname}]:${port}`;
}

const bare = (source: Pick<GitSource, 'host'>): string =>
  hostnameOf(source).replace(/^\[(.*)\]$/, '$1');

const pinnedHost = (source: GitSource, { address }: LookupAddress): string =>
  [
    `Host ${bare(source)}`,
    `  HostName ${address}`,
    `  HostKeyAlias ${sshName(source)}`,
    '  ProxyCommand none\n',
  ].join('\n');

function pinnedUrl(source: GitSource, { address, family }: LookupAddress): [string, string] {
  const host = family === 6 ? `[${address}]` : address;
  const pinned = source.host.replace(hostnameOf(source), host);
  return [`url.git://${pinned}/.insteadOf`, `git://${source.host}/`];
}
