/** Output that is handed on line by line: a secret is only recognized in one piece. */
export class MaskedLines {
  /** The beginning of a line. */
  private unfinished = '';

  constructor(
    private readonly mask: (text: string) => string,
    private readonly onText: (masked: string) => void,
  ) {}

  add(text: string): void {
    const lines = this.unfinished + text;
    const end = lines.lastIndexOf('\n') + 1;
    this.unfinished = lines.slice(end);
    const masked = this.mask(lines.slice(0, end));
    if (masked.trim() !== '') this.onText(masked);
  }
}
