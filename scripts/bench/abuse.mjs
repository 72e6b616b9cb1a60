import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

import { assertStatus } from './abuse-statuses.mjs';
import { BURSTS, measureBursts, measurePrinting, PRINTING } from './abuse-bursts.mjs';
import { abuses, createVictims } from './abuse-requests.mjs';
import { startServer } from './servers.mjs';
import { caller, createWorld } from './world.mjs';

/** Limit on the waiting time of another caller, in milliseconds. */
const MAX_WAIT_MS = 100;
const REQUEST_INTERVAL_MS = 3;
const SETTLE_MS = 40_000;
/** Limit on the memory that remains allocated, in megabytes: compiled code and pools. */
const MAX_REMAINING_MB = 60;

/**
 * Sends the most expensive known requests, anonymous and of callers with few permissions, one after the
 * other. Measures the cost of each for the event loop and the memory of one API process per sent kilobyte,
 * and how long other callers wait for a response. A program with endless output is measured before them, and bursts
 * of requests after them.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchAbuse({ root, environment, only }) {
  const folder = await mkdtemp(join(environment.TMPDIR ?? tmpdir(), 'bench-abuse-'));
  const settings = {
    DATA_DIR: join(folder, 'data'),
    PROJECT_SCM_SCHEMES: 'file',
    PROJECT_FILE_ROOTS: folder,
  };
  const world = await createWorld({ root, environment, name: 'bench_abuse', settings });
  const server = await startServer(join(root, 'dist/main.js'), world.environment);
  try {
    const victims = await createVictims(world, caller(server.url, world.admin));
    // Measured first: after other requests, its job would wait for the jobs that they launch.
    const printing = PRINTING.includes(only)
      ? await measurePrinting(world, server.url, { ...victims, folder })
      : null;
    const all = abuses(victims).filter(({ name }) => name.includes(only));
    const results = all.length > 0 ? await measureAll(server, all) : [];
    const { nobody = '', orgadmin = '' } = victims.tokens;
    const tokens = { admin: world.admin, nobody, other: orgadmin };
    const bursts = BURSTS.includes(only) ? await measureBursts(server.url, tokens) : [];
    return { title: 'Abuse', load: loadavg(), results, bursts, printing };
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('./types.d.mts').RunningServer} server
 * @param {readonly import('./abuse-requests.mjs').Abuse[]} all
 */
async function measureAll(server, all) {
  // Warms up the compiler with all requests, so that only the work is measured.
  for (const one of all) await send(server.url, one);
  await sleep(2000);
  const idle = await memoryOf(server.pid, 'VmRSS');
  const results = [];
  for (const one of all) results.push(await measured(server, one));
  print(results);
  await sleep(SETTLE_MS);
  const after = await memoryOf(server.pid, 'VmRSS');
  const verdict = after - idle <= MAX_REMAINING_MB ? 'met' : 'MISSED';
  console.log(
    `\nmemory before ${Math.round(idle)} MB, ${SETTLE_MS / 1000} s after all requests ${Math.round(after)} MB: ` +
      `${verdict} (at most ${MAX_REMAINING_MB} MB more)`,
  );
  return results;
}

/**
 * @typedef {object} Abused
 * @property {string} name
 * @property {string} who
 * @property {number} status
 * @property {number} kilobytes sent
 * @property {number} loop milliseconds of the event loop
 * @property {number} peak megabytes
 * @property {number} turn longest time of the event loop without work for other requests, in milliseconds
 * @property {number} wait milliseconds
 */

/**
 * @param {import('./types.d.mts').RunningServer} server
 * @param {import('./abuse-requests.mjs').Abuse} one
 * @returns {Promise<Abused>}
 */
async function measured(server, one) {
  const { url, pid } = server;
  await sleep(300);
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const [memory, time] = [await memoryOf(pid, 'VmRSS'), await loopTime(pid)];
  const watch = watchOthers(url);
  await sleep(50);
  const { status, kilobytes } = await send(url, one);
  const wait = await watch.end();
  // Subtracts the cost of the watching requests.
  const loop = Math.max(
    0,
    (await loopTime(pid)) - time - watch.sent() * (await costOfRequest(url, pid)),
  );
  const peak = Math.max(0, (await memoryOf(pid, 'VmHWM')) - memory);
  const { longestTurn: turn } = await server.longestTurn(() => send(url, one));
  return { name: one.name, who: one.who, status, kilobytes, loop, peak, turn, wait };
}

/** @type {number | undefined} */
let requestCost;

/**
 * Returns the cost of one request of `watchOthers`, in milliseconds.
 *
 * @param {string} url
 * @param {number} pid
 */
async function costOfRequest(url, pid) {
  if (requestCost === undefined) {
    const before = await loopTime(pid);
    const watch = watchOthers(url);
    await sleep(1000);
    await watch.end();
    requestCost = ((await loopTime(pid)) - before) / watch.sent();
  }
  return requestCost;
}

/**
 * Sends requests continuously on a separate connection. `end` returns the longest waiting time.
 *
 * @param {string} url
 */
function watchOthers(url) {
  const dispatcher = new Agent({ connections: 1 });
  let hasEnded = false;
  let longest = 0;
  let sent = 0;
  const requests = (async () => {
    while (!hasEnded) {
      const started = performance.now();
      const { body } = await request(`${url}/health/live`, { dispatcher });
      await body.dump();
      sent += 1;
      // The first request opens the connection.
      if (sent > 1) longest = Math.max(longest, performance.now() - started);
      await sleep(REQUEST_INTERVAL_MS);
    }
  })();
  return {
    sent: () => sent,
    async end() {
      hasEnded = true;
      await requests;
      await dispatcher.close();
      return longest;
    },
  };
}

/**
 * Sends a request of the list. Resolves to status and size; rejects for an unexpected status.
 *
 * @param {string} url
 * @param {import('./abuse-requests.mjs').Abuse} one
 */
export async function send(url, one) {
  const { method, path, headers, body: source = '' } = one;
  const body = typeof source === 'function' ? source() : source;
  const bytes = Buffer.byteLength(body) + path.length + JSON.stringify(headers).length;
  const response = await request(`${url}${path}`, {
    method,
    headers,
    ...(body === '' ? {} : { body }),
  });
  await response.body.dump({ limit: 100_000_000 }).catch(() => undefined);
  assertStatus(one, response.statusCode);
  return { status: response.statusCode, kilobytes: bytes / 1024 };
}

/** Returns the processor time of the event loop's thread in milliseconds. @param {number} pid */
async function loopTime(pid) {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
}

/**
 * @param {number} pid
 * @param {string} name
 */
async function memoryOf(pid, name) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

/** @type {readonly [title: string, width: number, read: (one: Abused) => number | string][]} */
const COLUMNS = [
  ['status', 7, ({ status }) => status],
  ['KB', 7, ({ kilobytes }) => kilobytes.toFixed(kilobytes < 10 ? 1 : 0)],
  ['loop ms', 9, ({ loop }) => loop.toFixed(0)],
  ['s/KB', 10, ({ loop, kilobytes }) => (loop / 1000 / kilobytes).toFixed(5)],
  ['MB', 7, ({ peak }) => peak.toFixed(0)],
  ['MB/KB', 8, ({ peak, kilobytes }) => (peak / kilobytes).toFixed(2)],
  ['turn ms', 9, ({ turn }) => turn.toFixed(0)],
  ['wait ms', 9, ({ wait }) => wait.toFixed(0)],
];

/** @param {readonly Abused[]} results */
function print(results) {
  console.log('\nAbuse: what a request costs, and how long other callers wait for /health/live\n');
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  const titles = COLUMNS.map(([title, columnWidth]) => title.padStart(columnWidth));
  console.log(`${'request'.padEnd(width)}${'who'.padEnd(14)}${titles.join('')}`);
  for (const one of results) {
    const cells = COLUMNS.map(([, columnWidth, read]) => String(read(one)).padStart(columnWidth));
    const verdict = one.wait <= MAX_WAIT_MS ? 'met' : `MISSED (${MAX_WAIT_MS} ms)`;
    console.log(`${one.name.padEnd(width)}${one.who.padEnd(14)}${cells.join('')}  ${verdict}`);
  }
}
