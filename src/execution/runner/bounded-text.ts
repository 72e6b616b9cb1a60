/** Collects text that a program prints in pieces, up to a maximum length. */
export class BoundedText {
  private kept = '';

  /** @param limit maximum length in characters */
  constructor(private readonly limit: number) {}

  get text(): string {
    return this.kept;
  }

  add(piece: string): void {
    const free = this.limit - this.kept.length;
    if (free > 0) this.kept += piece.length > free ? piece.slice(0, free) : piece;
  }
}
