import { connect, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AddressGuard } from '../../outbound/address-guard.js';
import { OutboundError } from '../../outbound/outbound-error.js';

/** Host and port that a program requests a connection to. */
export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * Passes the bytes of a client to its target, and those of the target to the client. The client receives all
 * bytes before its connection is closed.
 */
export function connectEnds(client: Duplex, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  upstream.once('close', () => client.end(() => client.destroy()));
}

/** Maximum number of kept refusals, because a program can repeat its requests. */
const MAX_REFUSALS = 20;

/** Local proxy that connects only to addresses which the guard permits. */
export abstract class GuardedServer {
  /** The first different messages of the connections that the guard rejected. */
  readonly refusals: string[] = [];
  private readonly sockets = new Set<Duplex>();

  protected constructor(
    private readonly guard: AddressGuard,
    private readonly server: Server,
  ) {
    server.on('connection', (client) => this.watch(client));
  }

  /** Listens at the path of a socket, or on a free port of the loopback address. */
  protected async listen(path?: string): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      if (path === undefined) this.server.listen(0, '127.0.0.1', resolve);
      else this.server.listen({ path, writableAll: true }, resolve);
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
   * Connects to a host at an address that the guard permits.
   *
   * @param client connection of the requesting program; when it closes, the new connection is closed too
   * @throws OutboundError if the guard rejects the host, Error if the connection fails
   */
  protected async connectTo({ host, port }: ConnectTarget, client: Duplex): Promise<Socket> {
    const addresses = await this.permittedAddresses(host);
    if (client.destroyed) throw new Error('The client disconnected');
    const upstream = connect({
      host,
      port,
      autoSelectFamily: true,
      lookup: (_host, _options, callback) => callback(null, addresses),
    });
    this.watch(upstream);
    client.once('close', () => upstream.destroy());
    await new Promise<void>((resolve, reject) => {
      const onClose = (): void => reject(new Error('The connection ended'));
      upstream.once('connect', resolve).once('error', reject).once('close', onClose);
    });
    return upstream;
  }

  private async permittedAddresses(host: string): ReturnType<AddressGuard['resolve']> {
    try {
      return await this.guard.resolve(host);
    } catch (error) {
      if (error instanceof OutboundError) this.keepRefusal(error.message);
      throw error;
    }
  }

  private keepRefusal(text: string): void {
    if (this.refusals.length < MAX_REFUSALS && !this.refusals.includes(text)) {
      this.refusals.push(text);
    }
  }

  private watch(socket: Duplex): void {
    this.sockets.add(socket);
    // The program detects the error by the end of its connection.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }
}
