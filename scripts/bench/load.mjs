import autocannon from 'autocannon';

const CONNECTIONS = 8;
const WARM_UP_SECONDS = 1;
const SECONDS = 4;

/** Requests per second and latencies in ms of one URL. */
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
