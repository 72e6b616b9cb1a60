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
    detail: 'The headers of the request are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
};

/** How long a client may go on sending what was refused. */
const LINGER_MS = 2000;

/**
 * Gives what Node's parser refuses the body of every other error: these requests never reach the
 * application. Headers may have 16 KB in all.
 */
export function answerParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What still comes after the answer is read and dropped: closing at once would lose the answer.
    if (!socket.writable) return;
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    refuse(socket, REFUSALS[error.code ?? ''] ?? MALFORMED);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** Answers a request whose body takes too long to arrive, and ends it: nobody works on it any more. */
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
