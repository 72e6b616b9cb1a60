import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AddressGuard } from './address-guard.js';

/** A host and port that a program wants to be connected to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Connects to a host at an address that the guard allows, and to no other.
 *
 * @param client for whom; what it gives up is not connected, and ends with it
 * @param watch is handed the socket before it is connected
 * @throws OutboundError for what the guard refuses, Error when the connection cannot be made
 */
export async function guardedConnect(
  guard: AddressGuard,
  { host, port }: Target,
  client: Duplex,
  watch: (socket: Socket) => void,
): Promise<Socket> {
  const addresses = await guard.resolve(host);
  if (client.destroyed) throw new Error('The client gave up');
  const upstream = connect({
    ...{ host, port, autoSelectFamily: true },
    lookup: (_host, _options, callback) => callback(null, addresses),
  });
  watch(upstream);
  client.once('close', () => upstream.destroy());
  await new Promise<void>((resolve, reject) => {
    const closed = (): void => reject(new Error('The connection ended'));
    upstream.once('connect', resolve).once('error', reject).once('close', closed);
  });
  return upstream;
}
