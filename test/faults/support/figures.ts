/** Results of accepted work for the report. `lost` and `doubled` must be 0. */
export interface Figures {
  accepted: number;
  finished: number;
  lost: number;
  doubled: number;
}

/** Compares the accepted jobs with the ended ones and with the number of executions of each playbook. */
export function figuresOf(
  accepted: readonly number[],
  statuses: Readonly<Record<string, number>>,
  ledger: ReadonlyMap<number, number>,
): Figures {
  const finished = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const doubled = accepted.filter((id) => (ledger.get(id) ?? 0) > 1).length;
  return { accepted: accepted.length, finished, lost: accepted.length - finished, doubled };
}

/** Prints one line of the report to the standard output, which jest does not decorate. */
export function printFigures(what: string, figures: Figures): void {
  const parts = Object.entries(figures).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`    ${what}: ${parts.join(', ')}\n`);
}
