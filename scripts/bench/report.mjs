const PLOT_WIDTH = 30;

const pad = (text, width) => String(text).padEnd(width);
const right = (text, width) => String(text).padStart(width);

/** A table of one run and a plot of the ratios. */
export function report(title, results) {
  console.log(`\n${title}\n`);
  console.log(
    `${pad('request', 24)}${right('per s', 8)}${right('raw', 8)}${right('ratio', 7)}${right('p50 ms', 8)}${right('p99 ms', 8)}${right('SQL', 5)}  budget`,
  );
  for (const one of results) {
    const ratio = one.ours.perSecond / one.primitive.perSecond;
    console.log(
      pad(one.name, 24) +
        right(Math.round(one.ours.perSecond), 8) +
        right(Math.round(one.primitive.perSecond), 8) +
        right(ratio.toFixed(2), 7) +
        right(one.ours.p50, 8) +
        right(one.ours.p99, 8) +
        right(one.statements, 5) +
        `  ${verdict(one, ratio)}${one.ours.failed ? `  ${one.ours.failed} failed` : ''}`,
    );
  }
  console.log('\nratio to raw');
  for (const one of results) {
    const ratio = Math.min(1, one.ours.perSecond / one.primitive.perSecond);
    const bar = '█'.repeat(Math.round(ratio * PLOT_WIDTH));
    console.log(`${pad(one.name, 24)}|${pad(bar, PLOT_WIDTH)}| ${ratio.toFixed(2)}`);
  }
}

function verdict({ budget, floor, p99, ours }, ratio) {
  if (budget !== undefined) return `${ratio >= budget ? 'holds' : 'MISSED'} (>= ${budget} of raw)`;
  if (floor !== undefined) return `${ours.perSecond >= floor ? 'holds' : 'MISSED'} (>= ${floor}/s)`;
  if (p99 !== undefined) return `${ours.p99 <= p99 ? 'holds' : 'MISSED'} (p99 <= ${p99} ms)`;
  return '';
}
