import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { GroupMember } from '../processes/group-member.js';

/** Whose connections are counted, and how many one address may have open. */
export interface ConnectionLimit {
  perAddress: number;
  /** A reverse proxy speaks for many, and limits them itself. */
  isProxy: (address: string) => boolean;
}

/** Closes connections of an address that has too many open already. */
export function limitConnections(
  server: Server,
  processes: GroupMember,
  { perAddress, isProxy }: ConnectionLimit,
): void {
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isProxy(address)) return;
    const key = `connections of ${address}`;
    const taken = processes.take(key, perAddress);
    socket.once('close', () => void taken.then((isTaken) => isTaken && processes.free(key)));
    void taken.then((isTaken) => isTaken || socket.destroy());
  });
}
