/** What became of accepted work, printed for the report: lost and doubled must be 0. */
export interface Figures {
  accepted: number;
  finished: number;
  lost: number;
  doubled: number;
}

/** Compares what was accepted with what ended and with how often each playbook ran. */
export function figuresOf(
  accepted: readonly number[],
  statuses: Readonly<Record<string, number>>,
  ledger: ReadonlyMap<number, number>,
): Figures {
  const finished = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const doubled = accepted.filter((id) => (ledger.get(id) ?? 0) > 1).length;
  return { accepted: accepted.length, finished, lost: accepted.length - finished, doubled };
}

/** One line of the report on the standard output, which jest does not decorate. */
export function printFigures(what: string, figures: Figures): void {
  const parts = Object.entries(figures).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`    ${what}: ${parts.join(', ')}\n`);
}
