import autocannon from 'autocannon';
import { Agent, request } from 'undici';

import { nextNonce } from './nonce.mjs';

/** @typedef {import('./types.d.mts').Sent} Sent */
/** @typedef {{ connections: number, dispatcher: Agent, expected: number }} Options */

export const CONNECTIONS = 8;

/** Interval of the check for completion. */
const CHECK_MS = 5;

/**
 * Returns a load that sends the same request repeatedly on several connections: the first time for `seconds`,
 * later as many requests as were completed in that time. So no turn ends with requests that a server still
 * handles while the other server is measured.
 *
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {number} seconds
 * @returns {(server: { url: string }) => Promise<import('./compare.mjs').Turn>}
 */
export function readLoad(path, headers, seconds) {
  /** @type {Map<string, number>} */
  const amounts = new Map();
  return async ({ url }) => {
    const amount = amounts.get(url);
    const load = { url: `${url}${path}`, headers, connections: CONNECTIONS, sampleInt: CHECK_MS };
    const started = performance.now();
    const result = await autocannon({ ...load, ...(amount ? { amount } : { duration: seconds }) });
    const count = result.requests.total;
    const elapsed = (performance.now() - started) / 1000;
    amounts.set(url, Math.max(CONNECTIONS, Math.round((count / elapsed) * seconds)));
    const { p50, p99 } = result.latency;
    return { count, seconds: elapsed, p50, p99, failed: result.non2xx + result.errors };
  };
}

/**
 * Sends requests with a different body each.
 *
 * @param {string} url
 * @param {(nonce: string) => Sent} make called before the clock starts
 * @param {{ count: number, connections?: number, expected: number }} options `expected` is the status of a
 *   successful response
 * @returns {Promise<import('./compare.mjs').Turn>}
 */
export async function sendEach(url, make, { count, connections = CONNECTIONS, expected }) {
  const dispatcher = new Agent({ connections, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const waiting = Array.from({ length: count }, () => make(nextNonce()));
  const started = performance.now();
  const { latencies, failed } = await sendAll(url, waiting, { connections, dispatcher, expected });
  const seconds = (performance.now() - started) / 1000;
  await dispatcher.close();
  return { count, seconds, failed, ...percentiles(latencies) };
}

/**
 * @param {string} url
 * @param {Sent[]} waiting
 * @param {Options} options
 */
async function sendAll(url, waiting, { connections, dispatcher, expected }) {
  /** @type {number[]} */
  const latencies = [];
  let failed = 0;
  const work = async () => {
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      const { path, ...options } = one;
      const started = performance.now();
      const { statusCode, body } = await request(`${url}${path}`, { ...options, dispatcher });
      const text = await body.text();
      latencies.push(performance.now() - started);
      if (statusCode === expected) continue;
      if (failed === 0) process.stderr.write(`${path}: ${statusCode} ${text.slice(0, 300)}\n`);
      failed += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return { latencies, failed };
}

/**
 * Returns the latencies in milliseconds at several percentiles.
 *
 * @param {readonly number[]} latencies
 */
export function percentiles(latencies) {
  const sorted = latencies.toSorted((left, right) => left - right);
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
