import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

interface Refusal {
  status: string;
  detail: string;
}

const MALFORMED: Refusal = { status: '400 Bad Request', detail: 'The request is not valid HTTP.' };
const TOO_SLOW: Refusal = {
  status: '408 Request Timeout',
  detail: 'The request did not arrive in time.',
};
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    detail: 'The headers of the request exceed 16 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
};

/** Time for which a client can continue to send a rejected request. */
const LINGER_MS = 2000;

/**
 * Responds with a JSON error to requests that Node's parser rejects: those requests never reach the
 * application. The headers of a request are limited to 16 KB in total.
 */
export function handleParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) return;
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED);
    // Closing immediately would lose the response: the rest of the request is read and discarded.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** Sends 408 for a request whose body arrives too slowly, and closes the request. */
export function refuseSlow(request: IncomingMessage): void {
  refuse(request.socket, TOO_SLOW);
  request.destroy();
}

function refuse(socket: Duplex, { status, detail }: Refusal): void {
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
