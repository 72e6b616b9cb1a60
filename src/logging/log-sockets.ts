import { createSocket } from 'node:dgram';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { OutboundError, translateError } from '../outbound/outbound-error.js';

/** A log aggregator that receives records by a socket. */
export interface SocketTarget {
  /** Configured host name, for messages and the certificate. */
  host: string;
  /** Address that the guard permits. */
  address: string;
  port: number;
  tls: boolean;
  verifyTls: boolean;
  timeoutMs: number;
}

/**
 * Writes a text to a separate connection, and waits until the receiver closes the connection: only then has
 * the receiver read everything. A TCP acknowledgment does not prove that.
 *
 * @throws OutboundError
 */
export function writeToConnection(to: SocketTarget, text: string): Promise<void> {
  const target = `${to.host}:${to.port}`;
  const options = { host: to.address, port: to.port };
  const socket = to.tls
    ? connectTls({
        ...options,
        rejectUnauthorized: to.verifyTls,
        ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
      })
    : connectTcp(options);
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const expired = setTimeout(
      () => socket.destroy(new OutboundError('timeout', `${target}: no response in time.`)),
      to.timeoutMs,
    );
    socket.once(to.tls ? 'secureConnect' : 'connect', () => socket.end(text));
    socket.on('data', () => undefined);
    socket.once('end', () => {
      hasEnded = true;
    });
    socket.once('error', (error) => reject(translateError(error, target)));
    socket.once('close', () => {
      clearTimeout(expired);
      if (hasEnded && socket.writableFinished) resolve();
      else reject(new OutboundError('reset', `${target}: the connection was closed too early.`));
    });
  });
}

/**
 * Sends texts as datagrams. Their arrival is not confirmed.
 *
 * @throws OutboundError
 */
export async function sendDatagrams(
  { host, address, port }: Pick<SocketTarget, 'host' | 'address' | 'port'>,
  texts: readonly string[],
): Promise<void> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  try {
    for (const text of texts) {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.send(text, port, address, (error) => {
          socket.removeListener('error', reject);
          if (error) reject(error);
          else resolve();
        });
      });
    }
  } catch (error) {
    throw translateError(error, `${host}:${port}`);
  } finally {
    socket.close();
  }
}
