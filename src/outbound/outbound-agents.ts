import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { addressRefused, type AddressGuard } from './address-guard.js';

/** Timeouts of the connections of one agent, in milliseconds. */
export interface AgentLimits {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** Trusted authorities and client certificate of a connection, in PEM. */
export interface TlsIdentity {
  /** Trusted certificate authorities, which replace the authorities of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Maximum number of connections per origin: enough for a burst, while one stalled target cannot occupy
 * all sockets.
 */
const CONNECTIONS_PER_ORIGIN = 32;

/**
 * Creates an undici agent whose sockets only reach addresses that the guard permits. The lookup of the
 * connection itself verifies the addresses, so no second DNS reply can differ from the verified one.
 */
export function createGuardedAgent(
  guard: AddressGuard,
  limits: AgentLimits,
  verifyTls: boolean,
  tls: TlsIdentity = {},
): Agent {
  const connect = buildConnector({
    lookup: guardedLookup(guard),
    timeout: limits.connectTimeoutMs,
    rejectUnauthorized: verifyTls,
    ...tls,
  });
  return new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.totalTimeoutMs,
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      // Node skips the lookup for literal addresses, so they are verified here.
      if (isIP(host) && !guard.isAllowed(host)) {
        callback(addressRefused(host), null);
        return;
      }
      connect(options, callback);
    },
  });
}

function guardedLookup(guard: AddressGuard): LookupFunction {
  return (host, options, callback) => {
    guard.resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else if (first) callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
