import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { Client } from 'ldapts';
import { resolveAllowed, type AddressGuard } from '../outbound/address-guard.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { LdapConfiguration } from './authenticator-kinds.js';

/** Timeout of the name look-up, the connection, StartTLS and the TLS handshake together. */
const CONNECT_MS = 3_000;

/** Extended request for StartTLS (RFC 4511, section 4.14), as message 1. */
const START_TLS = Buffer.concat([
  Buffer.from('301d02010177188016', 'hex'),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
]);
const SUCCESS = Buffer.from('0a0100', 'hex');
const EXTENDED_RESPONSE = 0x78;
const MAX_RESPONSE = 1024;

/**
 * Connects to a directory at an address that the guard permits. The TLS handshake follows with the first
 * operation.
 *
 * @param server `ldap://` or `ldaps://` URL
 * @param deadline time in ms at which the connection is closed
 */
export async function openDirectory(
  guard: AddressGuard,
  server: string,
  { start_tls: startTls, ca }: Pick<LdapConfiguration, 'start_tls' | 'ca'>,
  deadline: number,
): Promise<Client> {
  const isPlain = server.startsWith('ldap://');
  const connectDeadline = Math.min(Date.now() + CONNECT_MS, deadline);
  const timeLeft = (): number => Math.max(1, connectDeadline - Date.now());
  // The URL parser does not know the default ports of ldap.
  const { hostname, port } = new URL(server.replace(/^ldaps?/, 'http'));
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const portNumber = Number(/:\d+\/?$/.test(server) ? port || 80 : isPlain ? 389 : 636);
  const { address } = await resolveAllowed(host, guard, timeLeft());
  const timeout = Math.max(1, deadline - Date.now());
  if (isPlain && !startTls) {
    const name = isIP(address) === 6 ? `[${address}]` : address;
    return new Client({ url: `ldap://${name}:${portNumber}`, connectTimeout: timeLeft(), timeout });
  }
  const socket = connect({ host: address, port: portNumber });
  socket.on('error', () => undefined);
  const expired = setTimeout(
    () => socket.destroy(new OutboundError('timeout', `${host} did not respond in time.`)),
    timeLeft(),
  );
  try {
    await once(socket, 'connect');
    if (isPlain) await startTlsOn(socket);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(expired);
  }
  return new Client({
    url: server,
    connectTimeout: timeLeft(),
    timeout,
    tlsOptions: {
      socket,
      host,
      ...(isIP(host) ? {} : { servername: host }),
      ...(ca ? { ca } : {}),
    },
  });
}

/**
 * Requests StartTLS. The response must be the only bytes before the handshake: otherwise an
 * attacker could inject a plain-text response to a later request.
 */
async function startTlsOn(socket: Socket): Promise<void> {
  socket.write(START_TLS);
  let received = Buffer.alloc(0);
  let message = elementAt(received, 0);
  while (received.length < message.end && received.length < MAX_RESPONSE) {
    if (socket.readableLength === 0) {
      await Promise.race([once(socket, 'readable'), closed(socket)]);
    }
    const chunk: unknown = socket.read();
    if (Buffer.isBuffer(chunk)) received = Buffer.concat([received, chunk]);
    message = elementAt(received, 0);
  }
  const response = elementAt(received, elementAt(received, message.start).end);
  const result = received.subarray(response.start, response.start + SUCCESS.length);
  if (
    message.end !== received.length ||
    response.tag !== EXTENDED_RESPONSE ||
    !result.equals(SUCCESS)
  ) {
    throw new OutboundError('tls', 'The server refused StartTLS.');
  }
}

/**
 * Returns the tag and the bounds of a BER element; `end` is Infinity if its header is incomplete.
 */
function elementAt(bytes: Buffer, offset: number): { tag: number; start: number; end: number } {
  const [tag = 0, first] = bytes.subarray(offset);
  if (first === undefined) return { tag, start: offset, end: Infinity };
  const size = first < 0x80 ? 0 : first - 0x80;
  const start = offset + 2 + size;
  if (size > 4 || bytes.length < start) return { tag, start, end: Infinity };
  return { tag, start, end: start + (size === 0 ? first : bytes.readUIntBE(offset + 2, size)) };
}

async function closed(socket: Socket): Promise<never> {
  await once(socket, 'close');
  throw new OutboundError('reset', 'The server closed the connection.');
}
