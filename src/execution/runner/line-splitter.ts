import { LineReducer } from './line-reducer.js';

/** Maximum length of an unmodified line, in bytes; in longer lines, long texts are cut. */
export const MAX_LINE_BYTES = 1024 * 1024;
/**
 * Maximum length of a line after cutting, in bytes; it must fit into memory. The largest real line
 * is the final event of a run over hundreds of thousands of hosts.
 */
const MAX_REDUCED_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Splits a byte stream into lines with limited memory, independent of chunk ends. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private keptBytes = 0;
  private lineBytes = 0;
  private reducer: LineReducer | null = null;

  /** Returns the lines that `chunk` completes, without their line ends. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.append(chunk.subarray(start, end));
      lines.push(this.take());
      start = end + 1;
    }
    if (start < chunk.length) this.append(chunk.subarray(start));
    return lines;
  }

  /** Returns the last line if the stream ended without a line end. */
  end(): string[] {
    return this.lineBytes > 0 ? [this.take()] : [];
  }

  private append(piece: Buffer): void {
    this.lineBytes += piece.length;
    if (!this.reducer && this.lineBytes > MAX_LINE_BYTES) {
      this.reducer = new LineReducer();
      const reduced = this.reducer.reduce(Buffer.concat(this.pieces));
      this.pieces = [reduced];
      this.keptBytes = reduced.length;
    }
    const kept = this.reducer ? this.reducer.reduce(piece) : piece;
    if (this.keptBytes + kept.length > MAX_REDUCED_BYTES) return;
    this.keptBytes += kept.length;
    this.pieces.push(kept);
  }

  private take(): string {
    const line = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.keptBytes = 0;
    this.lineBytes = 0;
    this.reducer = null;
    return line;
  }
}
