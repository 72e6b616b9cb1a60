import { createServer } from 'node:net';

import { Problem } from '../console/problem.mjs';

/**
 * Why nothing can listen on the address now (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, ...), or
 * null when it is free.
 */
export async function bindError(host, port) {
  const attempt = await tryListen(host, port);
  return attempt.error ?? null;
}

/** A free port of the loopback address; `preferred` when it is free. */
export async function freePort(preferred) {
  if (preferred && (await bindError('127.0.0.1', preferred)) === null) return preferred;
  const attempt = await tryListen('127.0.0.1', 0);
  if (attempt.error) throw new Problem(`No port can be opened on 127.0.0.1: ${attempt.error}`);
  return attempt.port;
}

function tryListen(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ error: error.code ?? error.message }));
    server.listen({ host, port, exclusive: true }, () => {
      const { port: opened } = server.address();
      server.close(() => resolve({ port: opened }));
    });
  });
}
