import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Proxy between a client and a server that can stop forwarding. Connections are then accepted and stay open
 * without a response, as with a server stopped by SIGSTOP.
 */
export class FreezingProxy {
  private readonly sockets = new Set<Socket>();
  private isFrozen = false;

  private constructor(private readonly server: Server) {}

  /** @param target URL of the server behind the proxy */
  static async start(target: string): Promise<FreezingProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer();
    const proxy = new FreezingProxy(server);
    server.on('connection', (client) => {
      const upstream = connect(Number(port), hostname);
      proxy.join(client, upstream);
      proxy.join(upstream, client);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** Returns the URL of the target with the host and port of the proxy. */
  through(target: string): string {
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw(): void {
    this.isFrozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.on('data', (chunk) => to.write(chunk));
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
    if (this.isFrozen) from.pause();
  }
}
