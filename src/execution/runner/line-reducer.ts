/** Maximum length of each text in a line that is too long, in bytes. */
export const MAX_STRING_BYTES = 256 * 1024;
const CUT_NOTE = Buffer.from(` ... [cut by the controller after ${MAX_STRING_BYTES} bytes]`);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** State after a backslash: the next byte determines the length of the escape sequence. */
const ESCAPE_BEGUN = -1;

/**
 * Shortens the long texts of a JSON line while its bytes arrive, so that a line of any length needs
 * little memory and remains valid JSON. Create one object per line.
 */
export class LineReducer {
  private inString = false;
  private isCutting = false;
  private stringBytes = 0;
  /** Remaining bytes of an escape sequence: a text is never cut inside one. */
  private escapeLeft = 0;

  /** Returns `chunk` without the bytes that are cut. */
  reduce(chunk: Buffer): Buffer {
    const kept: Buffer[] = [];
    let keptFrom = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const wasCutting = this.isCutting;
      this.step(chunk[index] ?? 0);
      if (this.isCutting && !wasCutting) kept.push(chunk.subarray(keptFrom, index + 1), CUT_NOTE);
      // The closing quote ends the cut and is kept.
      if (!this.isCutting && wasCutting) keptFrom = index;
    }
    if (!this.isCutting) kept.push(chunk.subarray(keptFrom));
    return Buffer.concat(kept);
  }

  private step(byte: number): void {
    if (!this.inString) {
      this.inString = byte === QUOTE;
      this.stringBytes = 0;
      return;
    }
    if (this.escapeLeft === 0 && byte === QUOTE) {
      this.inString = false;
      this.isCutting = false;
      return;
    }
    this.stringBytes += 1;
    if (this.escapeLeft === ESCAPE_BEGUN) this.escapeLeft = byte === LETTER_U ? 4 : 0;
    else if (this.escapeLeft > 0) this.escapeLeft -= 1;
    else if (byte === BACKSLASH) this.escapeLeft = ESCAPE_BEGUN;
    if (this.escapeLeft === 0 && this.stringBytes >= MAX_STRING_BYTES) this.isCutting = true;
  }
}
