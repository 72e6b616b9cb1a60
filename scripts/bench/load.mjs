import autocannon from 'autocannon';
import { Agent, request } from 'undici';

import { nextNonce } from './nonce.mjs';

const CONNECTIONS = 8;
/** The compiler needs this long until it has seen a request often enough. */
const WARM_UP_SECONDS = 3;
const SECONDS = 4;

/** Requests per second and latencies in ms of one URL that is only read. */
export async function measure(url, headers) {
  await autocannon({ url, headers, connections: CONNECTIONS, duration: WARM_UP_SECONDS });
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS });
  return {
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

/**
 * The same of requests that each have a body of their own.
 *
 * @param make `(nonce) => ({ path, method, headers, body })`; made before the clock starts
 * @param expected status of a good answer
 * @param count requests measured, after a tenth of them that only warm up
 */
export async function measureEach(url, make, { count, connections = CONNECTIONS, expected }) {
  const dispatcher = new Agent({ connections, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const warmUp = Math.max(3, Math.ceil(count / 10));
  await sendAll(url, prepared(make, warmUp), { connections, dispatcher, expected });
  const waiting = prepared(make, count);
  const started = performance.now();
  const { latencies, failed } = await sendAll(url, waiting, { connections, dispatcher, expected });
  const seconds = (performance.now() - started) / 1000;
  await dispatcher.close();
  return { perSecond: count / seconds, failed, ...percentiles(latencies) };
}

const prepared = (make, count) => Array.from({ length: count }, () => make(nextNonce()));

async function sendAll(url, waiting, { connections, dispatcher, expected }) {
  const latencies = [];
  let failed = 0;
  const work = async () => {
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      const { path, ...options } = one;
      const started = performance.now();
      const { statusCode, body } = await request(`${url}${path}`, { ...options, dispatcher });
      const answer = await body.text();
      latencies.push(performance.now() - started);
      if (statusCode === expected) continue;
      if (failed === 0) process.stderr.write(`${path}: ${statusCode} ${answer.slice(0, 300)}\n`);
      failed += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return { latencies, failed };
}

/** Latencies in ms that a share of them stay below. */
export function percentiles(latencies) {
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
