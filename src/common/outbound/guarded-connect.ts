import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AddressGuard } from './address-guard.js';

/** Host and port that a program requests a connection to. */
export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * Connects to a host at an address that the guard permits.
 *
 * @param client connection of the requesting program; when it closes, the new connection is closed too
 * @param watch receives the socket before it is connected
 * @throws OutboundError if the guard rejects the host, Error if the connection fails
 */
export async function guardedConnect(
  guard: AddressGuard,
  { host, port }: ConnectTarget,
  client: Duplex,
  watch: (socket: Socket) => void,
): Promise<Socket> {
  const addresses = await guard.resolve(host);
  if (client.destroyed) throw new Error('The client gave up');
  const upstream = connect({
    host,
    port,
    autoSelectFamily: true,
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
