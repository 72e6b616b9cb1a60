import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Whose connections are counted, and how many one address may have open. */
export interface ConnectionLimit {
  perAddress: number;
  /** A reverse proxy speaks for many, and limits them itself. */
  isProxy: (address: string) => boolean;
}

/** Closes connections of an address that has too many open already, before anything is read. */
export function limitConnections(server: Server, { perAddress, isProxy }: ConnectionLimit): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isProxy(address)) return;
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const rest = (open.get(address) ?? 1) - 1;
      if (rest > 0) open.set(address, rest);
      else open.delete(address);
    });
    if (count > perAddress) socket.destroy();
  });
}
