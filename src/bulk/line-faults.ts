import { Invalid, type FieldErrors } from '../common/errors/errors.js';

/** Lines whose faults are told; of the others only the number. */
const MOST_TOLD = 100;

/** Faults of a body of lines, by the number of the line. */
export class LineFaults {
  private readonly lines = new Map<number, FieldErrors>();
  private untold = 0;

  readonly most = MOST_TOLD;

  add(line: number, faults: FieldErrors): void {
    const known = this.lines.get(line);
    if (known) Object.assign(known, faults);
    else if (this.lines.size < MOST_TOLD) this.lines.set(line, faults);
    else this.untold += 1;
  }

  /** Faults whose lines are not known. */
  addUntold(faults: number): void {
    this.untold += faults;
  }

  /** @throws Invalid with the faults of the lines that were kept, and the number of the others */
  assertNone(): void {
    if (this.lines.size === 0) return;
    throw new Invalid({
      lines: Object.fromEntries(this.lines),
      ...(this.untold > 0 ? { __all__: [`${this.untold} further lines have faults.`] } : {}),
    });
  }
}
