import { loadavg } from 'node:os';

/** @typedef {import('./types.d.mts').Result} Result */

const PLOT_WIDTH = 30;

/** @type {readonly [title: string, width: number, read: (one: Result) => number | undefined][]} */
const COLUMNS = [
  ['product/s', 11, ({ product }) => product?.perSecond],
  ['limit/s', 9, ({ limit }) => limit?.perSecond],
  ['ratio', 7, (one) => ratioOf(one)],
  ['CPU', 7, (one) => cpuRatioOf(one)],
  ['p50 ms', 8, ({ product }) => product?.p50],
  ['p95 ms', 8, ({ product }) => product?.p95],
  ['p99 ms', 8, ({ product }) => product?.p99],
  ['API ms', 8, ({ product }) => product?.apiMs],
  ['PG ms', 8, ({ product }) => product?.postgresMs],
  ['SQL', 6, ({ product }) => product?.statements],
];

/** Tolerance for statements per request, as the process sends some statements in the background. */
const BACKGROUND_STATEMENTS = 0.1;

/**
 * Budgets of a line: their value, its better direction, and the text of the limit.
 *
 * @type {{ [Kind in keyof import('./types.d.mts').Budget]-?: readonly
 *   [read: (one: Result) => number | undefined, better: 'more' | 'less', describe: (limit: number) => string] }}
 */
const BUDGETS = {
  ratio: [(one) => ratioOf(one), 'more', (limit) => `>= ${limit} of the limit`],
  perSecond: [({ product }) => product?.perSecond, 'more', (limit) => `>= ${limit}/s`],
  p95: [({ product }) => product?.p95, 'less', (limit) => `p95 <= ${limit} ms`],
  p99: [({ product }) => product?.p99, 'less', (limit) => `p99 <= ${limit} ms`],
  apiMs: [({ product }) => product?.apiMs, 'less', (limit) => `API <= ${limit} ms`],
  statements: [
    ({ product }) => product?.statements && product.statements - BACKGROUND_STATEMENTS,
    'less',
    (limit) => `<= ${limit} statements`,
  ],
  addedMs: [
    ({ product, limit }) => product?.p50 && limit?.p50 && product.p50 - limit.p50,
    'less',
    (limit) => `p50 <= ${limit} ms more`,
  ],
  megabytes: [({ megabytes }) => megabytes, 'less', (limit) => `<= ${limit} MB`],
};

/**
 * Prints a table of one suite and a plot of its ratios.
 *
 * @param {string} title
 * @param {readonly Result[]} results
 * @returns the record of the suite
 */
export function report(title, results) {
  const load = loadavg();
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  console.log(`\n${title} (load average ${load.map((one) => one.toFixed(1)).join(' ')})\n`);
  const used = COLUMNS.filter(([, , read]) => results.some((one) => read(one) !== undefined));
  const titles = used.map(([name, columnWidth]) => name.padStart(columnWidth));
  console.log(`${'scenario'.padEnd(width)}${titles.join('')}  budget`);
  for (const one of results) {
    const cells = used.map(([, columnWidth, read]) => shown(read(one)).padStart(columnWidth));
    console.log(`${one.name.padEnd(width)}${cells.join('')}  ${remarks(one)}`);
  }
  plot(results, width);
  return { title, load, results };
}

/**
 * @param {readonly Result[]} results
 * @param {number} width
 */
function plot(results, width) {
  if (results.every((one) => ratioOf(one) === undefined)) return;
  console.log('\nratio to the limit');
  for (const one of results) {
    const ratio = ratioOf(one);
    if (ratio === undefined) continue;
    const bar = '█'.repeat(Math.round(Math.min(1, ratio) * PLOT_WIDTH));
    console.log(`${one.name.padEnd(width)}|${bar.padEnd(PLOT_WIDTH)}| ${ratio.toFixed(2)}`);
  }
}

/** @param {Result} one */
function remarks(one) {
  const { product, limit, budget = {}, note = '' } = one;
  const missed = [];
  for (const kind of /** @type {(keyof typeof BUDGETS)[]} */ (Object.keys(budget))) {
    const [read, better, describe] = BUDGETS[kind];
    const bound = budget[kind] ?? 0;
    // A missing value misses every limit.
    const value = read(one) ?? NaN;
    if (!(better === 'more' ? value >= bound : value <= bound)) missed.push(describe(bound));
  }
  const failed = (product?.failed ?? 0) + (limit?.failed ?? 0);
  const isBound = Object.keys(budget).length > 0;
  const verdict = missed.length > 0 ? `MISSED (${missed.join(', ')})` : isBound ? 'met' : '';
  return [verdict, failed > 0 ? `${failed} FAILED` : '', note].filter(Boolean).join(', ');
}

/** @param {Result} one */
const ratioOf = ({ product, limit }) =>
  product?.perSecond !== undefined && limit?.perSecond !== undefined
    ? product.perSecond / limit.perSecond
    : undefined;

/** Returns the ratio of the processor time of the API and of PostgreSQL together. @param {Result} one */
const cpuRatioOf = ({ product, limit }) =>
  product?.apiMs !== undefined && limit?.apiMs !== undefined
    ? (product.apiMs + (product.postgresMs ?? 0)) / (limit.apiMs + (limit.postgresMs ?? 0))
    : undefined;

/** @param {number | undefined} value */
const shown = (value) => {
  if (value === undefined || Number.isNaN(value)) return '';
  if (value < 10) return value.toFixed(2);
  return value < 100 ? value.toFixed(1) : String(Math.round(value));
};
