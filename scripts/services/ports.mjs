import { createServer } from 'node:net';

import { codeOf, Problem } from '../console/problem.mjs';

/**
 * Why nothing can listen on the address now (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, ...), or
 * null when it is free.
 *
 * @param {string} host
 * @param {number} port
 */
export async function bindError(host, port) {
  const attempt = await tryListen(host, port);
  return attempt.error ?? null;
}

/**
 * A free port of the loopback address; `preferred` when it is free.
 *
 * @param {number | null} [preferred]
 */
export async function freePort(preferred) {
  if (preferred && (await bindError('127.0.0.1', preferred)) === null) return preferred;
  const attempt = await tryListen('127.0.0.1', 0);
  if (attempt.error !== undefined)
    throw new Problem(`No port can be opened on 127.0.0.1: ${attempt.error}`);
  return attempt.port;
}

/**
 * @param {string} host
 * @param {number} port
 * @returns {Promise<{ error: string } | { error?: undefined, port: number }>}
 */
function tryListen(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ error: codeOf(error) ?? error.message }));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const opened = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve({ port: opened }));
    });
  });
}
