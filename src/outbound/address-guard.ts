import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { withTimeout } from '../common/with-timeout.js';
import { parseNetwork, type Network } from '../config/networks.js';
import { OutboundError } from './outbound-error.js';

/** Resolves a name to all its addresses. Tests replace the resolver to simulate a hostile name server. */
export type Resolver = (host: string) => Promise<LookupAddress[]>;

/** Addresses of metadata services, which reveal a machine's secrets, outside the reserved ranges. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Names of the machine itself, regardless of the name server. */
const LOCAL_NAME = /^(?:[^.]+\.)*localhost\.?$/i;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

const systemResolver: Resolver = (host) =>
  new Promise((resolve, reject) => {
    dnsLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });

/**
 * Decides which network addresses outbound traffic can reach
 * (docs/contract/operations.md#outbound-calls). Only globally routable unicast addresses are permitted;
 * every other range needs an entry in `allow` (`OUTBOUND_ALLOW`: CIDR ranges or single addresses).
 */
export class AddressGuard {
  private readonly allowed: Network[];

  /** @throws RangeError naming the entry of `allow` that is not a CIDR range */
  constructor(
    allow: readonly string[],
    private readonly resolver: Resolver = systemResolver,
  ) {
    this.allowed = allow.map(parseNetwork);
  }

  /** Returns true if an address is permitted. Accepts any notation that the system resolver understands. */
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
   * Rejects an address, or a name of this machine, that is not permitted, without a query to a name
   * server.
   *
   * @throws OutboundError `address`
   */
  assertName(host: string): void {
    const name = host.replace(/^\[(.*)\]$/, '$1');
    const addresses = LOCAL_NAME.test(name) ? ['127.0.0.1', '::1'] : [name];
    const known = addresses.filter((address) => parseAddress(address) !== null);
    if (known.length > 0 && !known.some((address) => this.isAllowed(address)))
      throw addressRefused(host);
  }

  /**
   * Resolves `host` and verifies all its addresses: one forbidden address rejects the name, because the
   * name server chooses their order. Connect to the returned addresses and never to the name again: a
   * second lookup could return other addresses (DNS rebinding).
   */
  async resolve(host: string): Promise<LookupAddress[]> {
    const name = host.replace(/^\[(.*)\]$/, '$1');
    const literal = parseAddress(name);
    if (literal) {
      const address = literal.toString();
      if (!this.isAllowed(address)) throw addressRefused(host);
      return [{ address, family: literal.kind() === 'ipv4' ? 4 : 6 }];
    }
    const addresses = await this.resolver(name).catch((error: unknown) => {
      throw new OutboundError('dns', `The name ${host} could not be resolved.`, { cause: error });
    });
    if (addresses.length === 0) {
      throw new OutboundError('dns', `The name ${host} has no address.`);
    }
    if (!addresses.every(({ address }) => this.isAllowed(address))) throw addressRefused(host);
    return addresses;
  }

  private matches(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.allowed.some(
      ([range, bits]) => range.kind() === address.kind() && address.match(range, bits),
    );
  }
}

/**
 * Returns the address to connect a plain socket (SMTP, IRC) to.
 *
 * @param timeoutMs limits the wait for a name server
 * @throws OutboundError `dns`, `address` or `timeout`
 */
export async function resolveAllowed(
  host: string,
  guard: AddressGuard,
  timeoutMs: number,
): Promise<LookupAddress> {
  const [first] = await withTimeout(
    guard.resolve(host),
    timeoutMs,
    () => new OutboundError('timeout', `Resolving ${host} took too long.`),
  );
  if (!first) throw new OutboundError('dns', `The name ${host} has no address.`);
  return first;
}

/** Parses an address, including the IPv4 notations of inet_aton (`0x7f.1`, `2130706433`). */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(text) ? ipaddr.parse(text) : null;
}

export function addressRefused(host: string): OutboundError {
  return new OutboundError(
    'address',
    `The address of ${host} is not permitted. Private and local networks must be listed in OUTBOUND_ALLOW.`,
  );
}
