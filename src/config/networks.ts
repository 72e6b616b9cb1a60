import ipaddr from 'ipaddr.js';

/** A network: its address, and the number of leading bits that its addresses share. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Names that Express accepts for networks of reverse proxies. */
const PROXY_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * Parses a network in CIDR notation or a single address.
 *
 * @throws RangeError
 */
export function parseNetwork(entry: string): Network {
  const text = entry.trim();
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new RangeError(`"${text}" is not a network in CIDR notation.`);
  }
}

/** Returns the fault of a text that is not a network, or null. */
export function networkFault(text: string): string | null {
  try {
    parseNetwork(text);
    return null;
  } catch {
    return `must contain networks in CIDR notation, not "${text}".`;
  }
}

/** Returns the fault of a text that is neither a network nor a name of networks of Express, or null. */
export const proxyFault = (text: string): string | null =>
  PROXY_NETWORKS.includes(text) ? null : networkFault(text);
