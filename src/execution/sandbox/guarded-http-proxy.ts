import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AddressGuard } from '../../outbound/address-guard.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { connectEnds, GuardedServer, type ConnectTarget } from './guarded-server.js';

/** Headers of one connection, which are forwarded in neither direction. */
const HOP_BY_HOP = ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive'];

/**
 * Local HTTP proxy for programs that support no SOCKS proxy. Like `GuardedProxy`, it resolves names and
 * connects only to addresses that the guard permits. https passes through unread (`CONNECT`).
 */
export class GuardedHttpProxy extends GuardedServer {
  private constructor(guard: AddressGuard) {
    const server = createServer((incoming, reply) => void this.forward(incoming, reply));
    server.on('connect', (incoming, client) => void this.tunnel(incoming, client));
    super(guard, server);
  }

  /**
   * Opens a proxy.
   *
   * @param path path of the socket; without it, the proxy listens on a free port of the loopback address
   */
  static open(guard: AddressGuard, path?: string): Promise<GuardedHttpProxy> {
    return new GuardedHttpProxy(guard).listen(path);
  }

  /** URL for the variables `http_proxy` and `https_proxy`. */
  get url(): string {
    return `http://${this.address}`;
  }

  private async tunnel({ url = '' }: IncomingMessage, client: Duplex): Promise<void> {
    try {
      const upstream = await this.connectTo(targetOf(`https://${url}`), client);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      connectEnds(client, upstream);
    } catch (error) {
      client.end(`HTTP/1.1 ${statusOf(error)} ${reasonOf(error)}\r\nConnection: close\r\n\r\n`);
    }
  }

  private async forward(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    try {
      const url = new URL(incoming.url ?? '');
      const upstream = await this.connectTo(targetOf(url), incoming.socket);
      const [method = 'GET', path] = [incoming.method, url.pathname + url.search];
      const headers = { ...withoutHopByHop(incoming.headers), connection: 'close' };
      const forwarded = request({ method, path, headers, createConnection: () => upstream });
      const responded = new Promise<IncomingMessage>((resolve, reject) => {
        forwarded.once('response', resolve).once('error', reject);
      });
      // If the sender aborts, the connection to the target is closed.
      pipeline(incoming, forwarded).catch(() => upstream.destroy());
      const response = await responded;
      reply.writeHead(response.statusCode ?? 502, withoutHopByHop(response.headers));
      await pipeline(response, reply);
    } catch (error) {
      if (reply.headersSent) reply.destroy();
      else reply.writeHead(statusOf(error), { connection: 'close' }).end(reasonOf(error));
    }
  }
}

/** @throws TypeError if the text is not a URL */
function targetOf(url: string | URL): ConnectTarget {
  const { protocol, hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

const withoutHopByHop = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));

const statusOf = (error: unknown): number => (error instanceof OutboundError ? 403 : 502);

const reasonOf = (error: unknown): string =>
  error instanceof OutboundError ? 'Refused by the address guard' : 'Could not connect';
