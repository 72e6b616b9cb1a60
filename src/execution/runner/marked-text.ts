import type { Readable } from 'node:stream';

const CODE = /^ (\d+)\n/;

/**
 * Output of a stream up to a mark that is followed by an exit code. The mark can arrive in pieces.
 */
export class MarkedText {
  /** Exit code after the mark. */
  readonly code: Promise<number>;
  private pending = '';
  private readonly onData: (text: string) => void;

  /** @param stream stream of decoded text */
  constructor(
    private readonly mark: string,
    private readonly stream: Readable,
    private readonly onText: (text: string) => void,
  ) {
    let settle: (code: number) => void;
    this.code = new Promise((resolve) => (settle = resolve));
    this.onData = (text) => {
      const code = this.read(text);
      if (code !== null) settle(code);
    };
    stream.on('data', this.onData);
  }

  /** Stops reading, so that another reader can continue with the stream. */
  release(): void {
    this.stream.off('data', this.onData);
  }

  private read(text: string): number | null {
    const all = this.pending + text;
    const index = all.indexOf(this.mark);
    const end = index < 0 ? all.length - this.partialMarkLength(all) : index;
    this.pending = all.slice(end);
    if (end > 0) this.onText(all.slice(0, end));
    const [, code] = index < 0 ? [] : (CODE.exec(this.pending.slice(this.mark.length)) ?? []);
    return code === undefined ? null : Number(code);
  }

  /** Returns the number of characters at the end of a text that can be the beginning of the mark. */
  private partialMarkLength(text: string): number {
    let length = Math.min(this.mark.length - 1, text.length);
    while (length > 0 && !text.endsWith(this.mark.slice(0, length))) length -= 1;
    return length;
  }
}
