import { createServer, type Socket } from 'node:net';
import type { AddressGuard } from '../../outbound/address-guard.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { connectEnds, GuardedServer, type ConnectTarget } from './guarded-server.js';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const CONNECT = 1;
const ADDRESS_TYPES = { ipv4: 1, name: 3, ipv6: 4 } as const;
/** Reply codes of the protocol. */
const REPLIES = { connected: 0, failed: 1, notAllowed: 2, notSupported: 7 } as const;

const HANDSHAKE_MS = 10_000;

/**
 * Local SOCKS proxy for programs that open connections themselves. The proxy resolves names and connects
 * only to addresses that the guard permits, regardless of redirects, submodules or DNS replies (RFC 1928,
 * `CONNECT` without authentication).
 */
export class GuardedProxy extends GuardedServer {
  private constructor(guard: AddressGuard) {
    super(
      guard,
      createServer((client) => void this.serve(client)),
    );
  }

  /** Opens a proxy on a free port of the loopback address. */
  static open(guard: AddressGuard): Promise<GuardedProxy> {
    return new GuardedProxy(guard).listen();
  }

  /** URL in curl's format, with names resolved by the proxy. */
  get url(): string {
    return `socks5h://${this.address}`;
  }

  private async serve(client: Socket): Promise<void> {
    client.setTimeout(HANDSHAKE_MS, () => client.destroy());
    try {
      const upstream = await this.connectTo(await readTarget(client), client);
      client.setTimeout(0);
      client.write(reply(REPLIES.connected));
      connectEnds(client, upstream);
    } catch (error) {
      // Other errors: the program disconnected or uses another protocol, or the host is unreachable.
      const isRefused = error instanceof OutboundError;
      client.end(reply(isRefused ? REPLIES.notAllowed : REPLIES.failed));
    }
  }
}

/** @throws Error for anything but a connection request */
async function readTarget(client: Socket): Promise<ConnectTarget> {
  const [version, methods] = await read(client, 2);
  if (version !== VERSION) throw new Error('The protocol is not SOCKS 5');
  await read(client, methods ?? 0);
  client.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [, command, , type] = await read(client, 4);
  const host = await readHost(client, type);
  const port = (await read(client, 2)).readUInt16BE();
  if (command === CONNECT && host !== null) return { host, port };
  client.end(reply(REPLIES.notSupported));
  throw new Error('Only the command CONNECT is supported');
}

async function readHost(client: Socket, type: number | undefined): Promise<string | null> {
  switch (type) {
    case ADDRESS_TYPES.ipv4:
      return (await read(client, 4)).join('.');
    case ADDRESS_TYPES.ipv6:
      return (await read(client, 16)).toString('hex').replace(/(.{4})(?!$)/g, '$1:');
    case ADDRESS_TYPES.name: {
      const [length = 0] = await read(client, 1);
      return (await read(client, length)).toString('latin1');
    }
    default:
      return null;
  }
}

/**
 * Reads an exact number of bytes.
 *
 * @throws Error if the connection ends first
 */
async function read(socket: Socket, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  for (;;) {
    const bytes: unknown = socket.read(length);
    if (Buffer.isBuffer(bytes)) return bytes;
    await new Promise<void>((resolve, reject) => {
      const onClose = (): void => reject(new Error('The connection ended'));
      socket.once('close', onClose);
      socket.once('readable', () => {
        socket.off('close', onClose);
        resolve();
      });
    });
  }
}

/** Returns a reply. The bound address in it is zero, because programs do not need it. */
const reply = (code: number): Buffer =>
  Buffer.from([VERSION, code, 0, ADDRESS_TYPES.ipv4, 0, 0, 0, 0, 0, 0]);
