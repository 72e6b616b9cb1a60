import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { WebSocketServer } from 'ws';

/** URL of the websocket (docs/contract/runs.md#websocket). */
const PATH = /^\/websocket\/?(?:\?|$)/;
/** Maximum size of a message from a client, in bytes. */
const MAX_MESSAGE_BYTES = 65_536;

/**
 * Serves websockets on the port of the API, at one URL. Once a server accepts upgrades, Node passes it
 * every request that offers one, such as the `Upgrade: h2c` of many HTTP clients. All requests but those
 * for the websocket are served without an upgrade.
 */
export class LiveAdapter extends AbstractWsAdapter {
  /** @param prototype Express's requests, which know their protocol and address behind a proxy */
  constructor(
    private readonly server: Server,
    private readonly prototype: object,
  ) {
    super(server);
  }

  override create(): WebSocketServer {
    const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
    this.server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket' || !PATH.test(request.url ?? '')) {
        this.serveWithoutUpgrade(request, socket, head);
        return;
      }
      Object.setPrototypeOf(request, this.prototype);
      sockets.handleUpgrade(request, socket, head, (client) => {
        sockets.emit('connection', client, request);
      });
    });
    return sockets;
  }

  /** The gateway receives the messages of its clients itself. */
  override bindMessageHandlers(): void {}

  override async close(sockets: WebSocketServer): Promise<void> {
    for (const client of sockets.clients) client.terminate();
    await super.close(sockets);
  }

  /** Puts the request back into the socket without its `Upgrade` header, and serves the connection again. */
  private serveWithoutUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method, url, httpVersion, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/${httpVersion}`];
    for (const [index, name] of rawHeaders.entries()) {
      if (index % 2 === 0 && name.toLowerCase() !== 'upgrade') {
        lines.push(`${name}: ${rawHeaders[index + 1]}`);
      }
    }
    socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
    this.server.emit('connection', socket);
  }
}
