import { loadavg } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import { seed } from './data.mjs';
import { startServer } from './servers.mjs';
import { createWorld } from './world.mjs';

/** @typedef {import('./limit/routes.d.mts').Objects} Objects */
/** @typedef {{ size: number, server: import('./types.d.mts').RunningServer, objects: Objects,
 *   tokens: Record<string, string> }} Stage */
/** @typedef {{ p50: number, p99: number }} Latency */
/** @typedef {{ name: string, latencies: readonly Latency[] }} Line */

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000];
const CALLERS = ['administrator', 'member', 'newcomer', 'outsider'];
/** Maximum ratio between the time of a list and its time over the smallest tables. */
const MAX = 2;
/** Proportions for ten million rows of each kind, and a hundred million events. */
const PROPORTIONS = { runs: 1, events: 10, deliveries: 1, notifications: 1 };
const WARM_UPS = 3;
const TURNS = 5;
/**
 * Number of requests of a turn, if there is time. With 300 in all, the third worst depends on a pause of the
 * garbage collector: three of a hundred lists missed their limit, and each met it with 2,000.
 */
const MAX_REQUESTS = 400;
/** The height of a bar is the logarithm of the milliseconds, from one to ten thousand. */
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MAX_LOGARITHM = 4;

/** @type {readonly (readonly [name: string, path: (objects: Objects) => string])[]} */
const LISTS = [
  ['jobs', () => 'jobs/'],
  ['jobs by end', () => 'jobs/?order_by=-finished'],
  ['jobs by start', () => 'jobs/?order_by=-started'],
  ['jobs by name', () => 'jobs/?order_by=name'],
  ['jobs by end, no count', () => 'jobs/?order_by=-finished&count_disabled=1'],
  ['failed jobs by end', () => 'jobs/?status=failed&order_by=-finished'],
  ['jobs of one template', ({ template }) => `job_templates/${template}/jobs/?order_by=-finished`],
  ['jobs by organization', () => 'jobs/?organization__name=Bench'],
  ['jobs, search', () => 'jobs/?search=run-0000421'],
  ['all runs by end', () => 'unified_jobs/?order_by=-finished'],
  ['events', () => 'job_events/'],
  ['newest events', () => 'job_events/?order_by=-created'],
  ['events of one run', ({ job }) => `jobs/${job}/job_events/`],
  ['activity', () => 'activity_stream/'],
  ['activity by time', () => 'activity_stream/?order_by=-timestamp'],
  ['hosts', () => 'hosts/?order_by=id'],
  ['newest hosts', () => 'hosts/?order_by=-created'],
  ['hosts of one inventory', ({ inventory }) => `inventories/${inventory}/hosts/`],
  ['the same by id', ({ inventory }) => `inventories/${inventory}/hosts/?order_by=id`],
  ['hosts, search', () => 'hosts/?search=host-0000421'],
  ['deliveries', ({ template }) => `job_templates/${template}/webhook_deliveries/`],
  ['notifications', () => 'notifications/?order_by=-created'],
  ['templates', () => 'job_templates/'],
];

/**
 * Compares the time of lists over tables of several sizes, with one request at a time by callers who may read
 * all, some, a few and no rows. The sizes alternate, so that a busy moment affects all of them.
 *
 * @param {import('./types.d.mts').SuiteInput} input `rows` is the largest number of hosts; there are as
 *   many runs and ten times as many events
 */
export async function benchGrowth({ root, environment, rows, seconds, only }) {
  /** @type {Stage[]} */
  const stages = [];
  try {
    for (const size of SIZES.filter((one) => one <= rows)) {
      const started = performance.now();
      stages.push(await stageOf(root, environment, size));
      const took = Math.round((performance.now() - started) / 1000);
      console.log(`  ${size.toLocaleString('en')} hosts created in ${took} s`);
    }
    return report(stages, await growthOf(stages, seconds, only));
  } finally {
    await Promise.all(stages.map(({ server }) => server.stop()));
  }
}

/**
 * @param {readonly Stage[]} stages
 * @param {number} seconds of a turn
 * @param {string} only part of a name
 */
async function growthOf(stages, seconds, only) {
  /** @type {Line[]} */
  const lines = [];
  for (const [list, path] of LISTS) {
    for (const who of CALLERS) {
      const name = `${list}, ${who}`;
      if (!name.includes(only)) continue;
      /** @type {number[][]} */
      const times = stages.map(() => []);
      for (let turn = 0; turn < TURNS; turn++) {
        for (const [index, stage] of stages.entries()) {
          times[index]?.push(...(await timesOf(stage, path, who, seconds)));
        }
      }
      // A list that the caller may not read has no times.
      if (times.some(({ length }) => length > 0))
        lines.push({ name, latencies: times.map(latency) });
    }
  }
  return lines;
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} environment
 * @param {number} size
 * @returns {Promise<Stage>}
 */
async function stageOf(root, environment, size) {
  // Lists have no short timeout, because their time is measured.
  const settings = { LIST_TIMEOUT_MS: '60000', STATEMENT_TIMEOUT_MS: '60000' };
  const world = await createWorld({ root, environment, name: `bench_growth_${size}`, settings });
  const main = join(root, 'dist/main.js');
  const { objects, ...tokens } = await seed(world, main, size, PROPORTIONS);
  const server = await startServer(main, world.environment);
  return { size, server, objects, tokens: { administrator: world.admin, ...tokens } };
}

/**
 * @param {Stage} stage
 * @param {(objects: Objects) => string} path
 * @param {string} who
 * @param {number} seconds
 * @returns {Promise<number[]>} milliseconds of each request; empty if the caller may not read the list
 */
async function timesOf({ server, objects, tokens }, path, who, seconds) {
  const url = `${server.url}/api/v2/${path(objects)}`;
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const request = async () => {
    const started = performance.now();
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.status === 403) return NaN;
    if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`);
    return performance.now() - started;
  };
  if (Number.isNaN(await request())) return [];
  for (let warmUp = 1; warmUp < WARM_UPS; warmUp++) await request();
  const until = performance.now() + seconds * 1000;
  /** @type {number[]} */
  const times = [];
  while (times.length === 0 || (times.length < MAX_REQUESTS && performance.now() < until)) {
    times.push(await request());
  }
  return times;
}

/**
 * @param {number[]} times
 * @returns {Latency}
 */
function latency(times) {
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ part) =>
    times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/**
 * @param {readonly Stage[]} stages
 * @param {readonly Line[]} lines
 */
function report(stages, lines) {
  const load = loadavg();
  const title = `Growth of lists, p50 and p99 in ms`;
  console.log(`\n${title} (load average ${load.map((one) => one.toFixed(1)).join(' ')})\n`);
  const width = Math.max(0, ...lines.map(({ name }) => name.length)) + 2;
  const heads = stages.map(({ size }) => size.toLocaleString('en').padStart(16)).join('');
  console.log(`${'hosts'.padEnd(width)}${heads}   p50   p99 to the first`);
  const results = lines.map(({ name, latencies }) => {
    const [first, last] = [latencies[0], latencies.at(-1)];
    const ratio = first && last ? last.p50 / first.p50 : NaN;
    const ratioOfP99 = first && last ? last.p99 / first.p99 : NaN;
    const cells = latencies.map(({ p50, p99 }) => `${shown(p50)} ${shown(p99)}`.padStart(16));
    const curve = latencies.map(({ p50 }) => barOf(p50)).join('');
    const verdict = ratioOfP99 <= MAX ? 'met' : `MISSED (<= ${MAX})`;
    const ratios = [ratio, ratioOfP99].map((one) => one.toFixed(2).padStart(6)).join('');
    console.log(`${name.padEnd(width)}${cells.join('')}${ratios}  ${curve}  ${verdict}`);
    return { name, latencies, ratio, ratioOfP99 };
  });
  console.log(`\nBars: the logarithm of p50, ${BARS[0]} 1 ms or less, ${BARS.at(-1)} 10 s.`);
  return { title, load, sizes: stages.map(({ size }) => size), results };
}

/** @param {number} milliseconds */
function barOf(milliseconds) {
  const height = Math.max(0, Math.min(1, Math.log10(milliseconds) / MAX_LOGARITHM));
  return BARS[Math.round(height * (BARS.length - 1))];
}

/** @param {number} milliseconds */
const shown = (milliseconds) => milliseconds.toFixed(milliseconds < 100 ? 1 : 0);
