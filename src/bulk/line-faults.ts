import { Invalid, type FieldErrors } from '../common/errors/errors.js';

/** Maximum number of lines whose errors are reported. Further lines are only counted. */
const MOST_TOLD = 100;

/** Errors of a body in lines, by line number. */
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

  /** Adds errors whose lines are unknown. */
  addUntold(faults: number): void {
    this.untold += faults;
  }

  /** @throws Invalid with the errors of the recorded lines, and the number of further lines */
  assertNone(): void {
    if (this.lines.size === 0) return;
    throw new Invalid({
      lines: Object.fromEntries(this.lines),
      ...(this.untold > 0 ? { __all__: [`${this.untold} further lines have faults.`] } : {}),
    });
  }
}
