import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { GroupMember } from '../processes/group-member.js';

/** Limit of open connections per address. */
export interface ConnectionLimit {
  perAddress: number;
  /** Returns true for a reverse proxy, which is exempt: it serves many clients and limits them itself. */
  isProxy: (address: string) => boolean;
}

/** Closes new connections of an address that has reached its limit. */
export function limitConnections(
  server: Server,
  processes: GroupMember,
  { perAddress, isProxy }: ConnectionLimit,
): void {
  // A connection that is not upgraded is announced again, with each request that offers an upgrade.
  const counted = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isProxy(address) || counted.has(socket)) return;
    counted.add(socket);
    const key = `connections of ${address}`;
    const reservation = processes.take(key, perAddress);
    socket.once('close', () => void reservation.then((isTaken) => isTaken && processes.free(key)));
    void reservation.then((isTaken) => isTaken || socket.destroy());
  });
}
