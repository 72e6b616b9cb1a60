import { loadavg } from 'node:os';

const PLOT_WIDTH = 30;
const COLUMNS = [
  ['per s', 9, ({ ours }) => number(ours?.perSecond)],
  ['raw', 9, ({ primitive }) => number(primitive?.perSecond)],
  ['ratio', 7, (one) => ratioOf(one)?.toFixed(2) ?? ''],
  ['p50 ms', 8, ({ ours }) => number(ours?.p50)],
  ['p95 ms', 8, ({ ours }) => number(ours?.p95)],
  ['p99 ms', 8, ({ ours }) => number(ours?.p99)],
  ['SQL', 5, ({ statements }) => statements ?? ''],
];

/** Limits a line may have: how its value is found, whether it holds, and how it is told. */
const BUDGETS = {
  ratio: [ratioOf, atLeast, (limit) => `>= ${limit} of raw`],
  perSecond: [({ ours }) => ours.perSecond, atLeast, (limit) => `>= ${limit}/s`],
  p95: [({ ours }) => ours.p95, atMost, (limit) => `p95 <= ${limit} ms`],
  p99: [({ ours }) => ours.p99, atMost, (limit) => `p99 <= ${limit} ms`],
  statements: [({ statements }) => statements, atMost, (limit) => `at most ${limit} queries`],
  addedMs: [
    ({ ours, primitive }) => ours.p50 - primitive.p50,
    atMost,
    (limit) => `p50 <= ${limit} ms more`,
  ],
  megabytes: [({ megabytes }) => megabytes, atMost, (limit) => `<= ${limit} MB`],
};

/**
 * A table of one suite and a plot of its ratios.
 *
 * @param results `{ name, ours, primitive, statements, note, budget }`; `budget` names limits
 */
export function report(title, results) {
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  const load = loadavg().map((one) => one.toFixed(1));
  console.log(`\n${title} (load average ${load.join(' ')})\n`);
  const titles = COLUMNS.map(([name, columnWidth]) => name.padStart(columnWidth));
  console.log(`${'request'.padEnd(width)}${titles.join('')}  budget`);
  for (const one of results) {
    const cells = COLUMNS.map(([, columnWidth, read]) => String(read(one)).padStart(columnWidth));
    console.log(`${one.name.padEnd(width)}${cells.join('')}  ${remarks(one)}`);
  }
  plot(results, width);
}

function plot(results, width) {
  const compared = results.filter((one) => ratioOf(one) !== undefined);
  if (compared.length === 0) return;
  console.log('\nratio to raw');
  for (const one of compared) {
    const ratio = ratioOf(one);
    const bar = '█'.repeat(Math.round(Math.min(1, ratio) * PLOT_WIDTH));
    console.log(`${one.name.padEnd(width)}|${bar.padEnd(PLOT_WIDTH)}| ${ratio.toFixed(2)}`);
  }
}

function remarks(one) {
  const verdicts = Object.entries(one.budget ?? {}).map(([kind, limit]) => {
    const [read, holds, tell] = BUDGETS[kind];
    return `${holds(read(one), limit) ? 'holds' : 'MISSED'} (${tell(limit)})`;
  });
  const failed = (one.ours?.failed ?? 0) + (one.primitive?.failed ?? 0);
  if (failed > 0) verdicts.push(`${failed} FAILED`);
  return [...verdicts, one.note ?? ''].filter(Boolean).join(', ');
}

function ratioOf({ ours, primitive }) {
  return primitive ? ours.perSecond / primitive.perSecond : undefined;
}

function atLeast(value, limit) {
  return value >= limit;
}

function atMost(value, limit) {
  return value <= limit;
}

const number = (value) =>
  value === undefined ? '' : value < 100 ? value.toFixed(1) : Math.round(value);
