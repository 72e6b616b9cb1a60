import type { Masker } from './masker.js';

/** Maximum number of waiting lines. Secrets are hardly ever broken over more lines. */
const MAX_WAITING = 1000;
/** Maximum length of a line, in characters; longer lines are split. */
const MAX_LINE = 65_536;

/**
 * Forwards output by whole lines with masked secrets. Lines that can contain the beginning of a
 * secret wait for the lines after them.
 */
export class MaskedLines {
  private waiting: string[] = [];
  /** Incomplete last line. */
  private unfinished = '';

  constructor(
    private readonly masker: Masker,
    private readonly onText: (masked: string) => void,
  ) {}

  add(text: string): void {
    const [first = '', ...others] = text.split('\n').flatMap(inPieces);
    this.unfinished += first;
    if (this.unfinished.length > MAX_LINE) others.push('');
    if (others.length === 0) return;
    const last = others.pop() ?? '';
    this.waiting.push(this.unfinished, ...others);
    this.unfinished = last;
    const open = this.masker.openPieces(this.waiting);
    this.forward(this.waiting.length - (open > MAX_WAITING ? 0 : open));
  }

  /** Forwards the remaining lines at the end of the output. */
  end(): void {
    if (this.unfinished !== '') this.waiting.push(this.unfinished);
    this.unfinished = '';
    this.forward(this.waiting.length);
  }

  private forward(count: number): void {
    const lines = this.waiting.splice(0, count);
    const masked = this.masker
      .output(lines)
      .map((line) => `${line}\n`)
      .join('');
    if (masked.trim() !== '') this.onText(masked);
  }
}

/** Splits a line that is too long. */
function inPieces(line: string): string[] {
  if (line.length <= MAX_LINE) return [line];
  const count = Math.ceil(line.length / MAX_LINE);
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * MAX_LINE, (index + 1) * MAX_LINE),
  );
}
