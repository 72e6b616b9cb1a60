import { createServer } from 'node:net';

import { codeOf, Problem } from '../console/problem.mjs';

/**
 * Returns the code of the error that prevents listening on the address (`EADDRINUSE`, `EACCES`, ...), or
 * null if the address is free.
 *
 * @param {string} host
 * @param {number} port
 */
export async function bindError(host, port) {
  const attempt = await tryListen(host, port);
  return attempt.error ?? null;
}

/**
 * Returns a free port of the loopback address: `preferred` if that port is free.
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
