import { lookup as dnsLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.js';

/** Resolves a name to every address it has; replaced in tests to play a hostile name server. */
export type Resolver = (host: string) => Promise<LookupAddress[]>;

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Services that tell a machine its own secrets, at an address that looks like any other. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Names of the machine itself, whatever a name server says of them. */
const LOCAL_NAME = /^(?:[^.]+\.)*localhost\.?$/i;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

const systemResolver: Resolver = (host) =>
  new Promise((resolve, reject) => {
    dnsLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });

/**
 * Decides which network addresses outbound traffic may reach
 * (docs/contract/operations.md#outbound-calls). Only globally routable unicast addresses pass;
 * every other range needs an entry in `allow` (`OUTBOUND_ALLOW`: CIDR ranges or single addresses).
 */
export class AddressGuard {
  private readonly allowed: Range[];

  /** Throws a RangeError naming the entry when `allow` holds something that is no CIDR range. */
  constructor(
    allow: readonly string[],
    private readonly resolver: Resolver = systemResolver,
  ) {
    this.allowed = allow.map(parseRange);
  }

  /** Whether a textual address, in any spelling the system resolver understands, may be reached. */
  isAllowed(address: string): boolean {
    const parsed = parseAddress(address);
    if (!parsed) return false;
    if (this.matches(parsed)) return true;
    if (parsed instanceof ipaddr.IPv6) {
      // The kernel sends a mapped address as plain IPv4, so an IPv4 allowance covers it.
      if (parsed.isIPv4MappedAddress()) return this.matches(parsed.toIPv4Address());
      return parsed.match(GLOBAL_UNICAST) && parsed.range() === 'unicast';
    }
    return parsed.range() === 'unicast' && !METADATA_ADDRESSES.has(parsed.toString());
  }

  /**
   * Refuses a host that is known to be refused without asking a name server: an address, or a name
   * of this machine.
   *
   * @throws OutboundError `address`
   */
  assertName(host: string): void {
    const name = host.replace(/^\[(.*)\]$/, '$1');
    const addresses = LOCAL_NAME.test(name) ? ['127.0.0.1', '::1'] : [name];
    const known = addresses.filter((address) => parseAddress(address) !== null);
    if (known.length > 0 && !known.some((address) => this.isAllowed(address))) throw refused(host);
  }

  /**
   * Every address of `host`, all of them checked: one refused address refuses the name, because
   * the answer's order is the name server's choice. Connect to what this returns, never to the
   * name again, otherwise a second look-up could answer differently (DNS rebinding).
   */
  async resolve(host: string): Promise<LookupAddress[]> {
    const name = host.replace(/^\[(.*)\]$/, '$1');
    const literal = parseAddress(name);
    if (literal) {
      const address = literal.toString();
      if (!this.isAllowed(address)) throw refused(host);
      return [{ address, family: literal.kind() === 'ipv4' ? 4 : 6 }];
    }
    const addresses = await this.resolver(name).catch((error: unknown) => {
      throw new OutboundError('dns', `The name ${host} could not be resolved.`, { cause: error });
    });
    if (addresses.length === 0) {
      throw new OutboundError('dns', `The name ${host} has no address.`);
    }
    if (!addresses.every(({ address }) => this.isAllowed(address))) throw refused(host);
    return addresses;
  }

  private matches(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.allowed.some(
      ([range, bits]) => range.kind() === address.kind() && address.match(range, bits),
    );
  }
}

/**
 * The address to connect a plain socket (SMTP, IRC) to.
 * Throws OutboundError `dns` or `address`; `timeoutMs` bounds a name server that never answers.
 */
export async function resolveAllowed(
  host: string,
  guard: AddressGuard,
  timeoutMs: number,
): Promise<LookupAddress> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new OutboundError('timeout', `Resolving ${host} took too long.`)),
      timeoutMs,
    );
  });
  try {
    const [first] = await Promise.race([guard.resolve(host), expired]);
    if (!first) throw new OutboundError('dns', `The name ${host} has no address.`);
    return first;
  } finally {
    clearTimeout(timer);
  }
}

/** Fault of one `OUTBOUND_ALLOW` entry, or null; lets the settings report all faults at once. */
export function faultOfRange(entry: string): string | null {
  try {
    parseRange(entry);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function parseRange(entry: string): Range {
  const text = entry.trim();
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new RangeError(`"${text}" is not a network in CIDR notation.`);
  }
}

/** Understands the odd IPv4 spellings (`0x7f.1`, `2130706433`) that inet_aton accepts. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(text) ? ipaddr.parse(text) : null;
}

function refused(host: string): OutboundError {
  return new OutboundError(
    'address',
    `The address of ${host} is not permitted. Private and local networks must be listed in OUTBOUND_ALLOW.`,
  );
}
