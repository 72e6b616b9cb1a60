import { isDeepStrictEqual } from 'node:util';

import { costOf } from './cost.mjs';

/** @typedef {import('./types.d.mts').RunningServer} RunningServer */
/** @typedef {import('./types.d.mts').Rate} Rate */
/** @typedef {import('./types.d.mts').Sent} Sent */
/** @typedef {Rate & { count: number, seconds: number }} Turn */
/** @typedef {{ product: RunningServer, limit: RunningServer, postmaster: number }} Pair */

/**
 * Number of warm-up rounds. V8 compiles the code of a load in these rounds, which is not a cost of a request.
 * A list becomes faster during its first hundreds of requests.
 */
export const WARM_UPS = 8;
const MAX_SHOWN = 200;

/**
 * Load to measure: `load` executes one turn.
 *
 * @typedef {object} Measured
 * @property {string} name
 * @property {(server: RunningServer) => Promise<Turn>} load
 * @property {import('./types.d.mts').Budget | undefined} [budget]
 */

/**
 * Measures each load on both servers, in rounds of short turns. The turns of a load are spread over the whole
 * time, so that minutes in which the machine is busy affect a few turns of each load on both sides, and not
 * all turns of a few loads.
 *
 * @param {Pair} pair
 * @param {readonly Measured[]} loads
 * @param {number} turns measured turns of each load on each server
 * @returns {Promise<import('./types.d.mts').Result[]>}
 */
export async function measureBoth({ product, limit, postmaster }, loads, turns) {
  const measured = loads.map((one) => ({
    ...one,
    products: /** @type {Awaited<ReturnType<typeof measureTurn>>[]} */ ([]),
    limits: /** @type {Awaited<ReturnType<typeof measureTurn>>[]} */ ([]),
  }));
  for (let round = 0; round < WARM_UPS + turns; round++) {
    for (const { load, products, limits } of measured) {
      products.push(await measureTurn(product, postmaster, load));
      limits.push(await measureTurn(limit, postmaster, load));
    }
  }
  return measured.map(({ name, budget, products, limits }) => {
    const [productTurns, limitTurns] = [products.slice(WARM_UPS), limits.slice(WARM_UPS)];
    const rates = { product: productTurns.map(rateOf), limit: limitTurns.map(rateOf) };
    return { name, budget, product: merge(productTurns), limit: merge(limitTurns), turns: rates };
  });
}

/** @param {Turn} turn */
const rateOf = ({ count, seconds }) => count / seconds;

/**
 * @param {RunningServer} server
 * @param {number} postmaster
 * @param {(server: RunningServer) => Promise<Turn>} load
 */
async function measureTurn(server, postmaster, load) {
  const before = await costOf(server, postmaster);
  const rate = await load(server);
  const after = await costOf(server, postmaster);
  return {
    ...rate,
    api: after.api - before.api,
    postgres: after.postgres - before.postgres,
    statements: after.statements - before.statements,
  };
}

/**
 * Merges all turns to one rate and cost, which differs less between runs than any median
 * (docs/decisions/0072-bench-limit.md). Latencies are medians of the turns.
 *
 * @param {readonly Awaited<ReturnType<typeof measureTurn>>[]} turns
 * @returns {Rate}
 */
function merge(turns) {
  /** @param {(turn: Awaited<ReturnType<typeof measureTurn>>) => number | undefined} read */
  const median = (read) => medianOf(turns.flatMap((turn) => read(turn) ?? []));
  /** @param {(turn: Awaited<ReturnType<typeof measureTurn>>) => number} read */
  const sum = (read) => turns.reduce((total, turn) => total + read(turn), 0);
  const count = sum((turn) => turn.count);
  return {
    perSecond: count / sum(({ seconds }) => seconds),
    p50: median(({ p50 }) => p50),
    p95: median(({ p95 }) => p95),
    p99: median(({ p99 }) => p99),
    failed: sum(({ failed = 0 }) => failed),
    apiMs: sum(({ api }) => api) / count,
    postgresMs: sum(({ postgres }) => postgres) / count,
    statements: sum(({ statements }) => statements) / count,
  };
}

/** @param {readonly number[]} values @returns {number | undefined} undefined without values */
function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/**
 * Sends the same request to both servers and throws if the totals, the ids in their order, or any field of
 * the limit's rows differ.
 *
 * @param {Pair} pair
 * @param {Sent} sent
 */
export async function assertSame({ product, limit }, sent) {
  const [actual, expected] = await Promise.all([fetchJson(product, sent), fetchJson(limit, sent)]);
  assertEqual(sent.path, actual.count, expected.count, 'count');
  if (!('results' in expected)) return assertSameRow(sent.path, actual, expected);
  assertEqual(sent.path, idsOf(actual), idsOf(expected), 'ids');
  expected.results.forEach((/** @type {Record<string, unknown>} */ row, /** @type {number} */ at) =>
    assertSameRow(sent.path, actual.results[at], row),
  );
}

/** @param {{ results: readonly { id: number }[] }} response */
const idsOf = ({ results }) => results.map(({ id }) => id);

/**
 * @param {string} path
 * @param {Record<string, unknown>} actual
 * @param {Record<string, unknown>} expected
 */
function assertSameRow(path, actual, expected) {
  for (const [name, value] of Object.entries(expected)) {
    const found = actual[name];
    if (isObject(value) && isObject(found)) assertSameRow(`${path} ${name}`, found, value);
    else assertEqual(path, withoutZeros(found), withoutZeros(value), name);
  }
}

/**
 * Removes the zeros at the end of the fraction of a time, which PostgreSQL's JSON omits.
 *
 * @param {unknown} value
 */
const withoutZeros = (value) =>
  typeof value === 'string' ? value.replace(/(\.\d+?)0*Z$/, '$1Z').replace(/\.0Z$/, 'Z') : value;

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param {string} path
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} part
 */
export function assertEqual(path, actual, expected, part) {
  if (isDeepStrictEqual(actual, expected)) return;
  /** @param {unknown} value */
  const short = (value) => (JSON.stringify(value) ?? 'undefined').slice(0, MAX_SHOWN);
  throw new Error(
    `${path}: the responses differ in ${part}, so the figures cannot be compared.\n` +
      `product ${short(actual)}\nlimit   ${short(expected)}`,
  );
}

/**
 * @param {RunningServer} server
 * @param {Sent} sent
 * @returns {Promise<import('./types.d.mts').Answer>}
 */
export async function fetchJson({ url }, { path, method, headers, body }) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}${path} returned ${response.status}: ${text}`);
  return JSON.parse(text);
}
