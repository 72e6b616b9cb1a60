import type { Masker } from './masker.js';

/** Lines that wait at most: a secret is hardly ever broken over so many. */
const MOST_WAITING = 1000;
/** Characters of a line; a longer one is broken, as output of that length is hard to read anyway. */
const MAX_LINE = 65_536;

/**
 * Output that is handed on by whole lines, in which secrets are recognized: what may be the beginning of one waits
 * for the lines after it.
 */
export class MaskedLines {
  private waiting: string[] = [];
  /** The beginning of a line. */
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
    this.tell(this.waiting.length - (open > MOST_WAITING ? 0 : open));
  }

  /** Hands on what is left: nothing follows that belongs to it. */
  end(): void {
    if (this.unfinished !== '') this.waiting.push(this.unfinished);
    this.unfinished = '';
    this.tell(this.waiting.length);
  }

  private tell(count: number): void {
    const lines = this.waiting.splice(0, count);
    const masked = this.masker
      .output(lines)
      .map((line) => `${line}\n`)
      .join('');
    if (masked.trim() !== '') this.onText(masked);
  }
}

/** Breaks a line that is too long. */
function inPieces(line: string): string[] {
  if (line.length <= MAX_LINE) return [line];
  const count = Math.ceil(line.length / MAX_LINE);
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * MAX_LINE, (index + 1) * MAX_LINE),
  );
}
