import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AddressGuard } from '../../common/outbound/address-guard.js';
import { guardedConnect, type ConnectTarget } from '../../common/outbound/guarded-connect.js';
import { OutboundError } from '../../common/outbound/outbound-error.js';

/** Local proxy that connects only to addresses which the guard permits. */
export abstract class GuardedServer {
  /** Messages of the connections that the guard rejected. */
  readonly refusals: string[] = [];
  private readonly sockets = new Set<Duplex>();

  protected constructor(
    private readonly guard: AddressGuard,
    private readonly server: Server,
  ) {
    server.on('connection', (client) => this.watch(client));
  }

  /** Listens on a free port of the loopback address. */
  protected async listen(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return this;
  }

  /** Host and port of the proxy. */
  protected get address(): string {
    const address = this.server.address();
    return `127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
  }

  /** Closes the proxy and all its connections. */
  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  /**
   * @param client connection of the requesting program; if it closes, no connection is made
   * @throws OutboundError if the guard rejects the host
   */
  protected async reach(target: ConnectTarget, client: Duplex): Promise<Socket> {
    try {
      return await guardedConnect(this.guard, target, client, (socket) => this.watch(socket));
    } catch (error) {
      if (error instanceof OutboundError) this.refusals.push(error.message);
      throw error;
    }
  }

  private watch(socket: Duplex): void {
    this.sockets.add(socket);
    // The peer notices by the end of its connection.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }
}
