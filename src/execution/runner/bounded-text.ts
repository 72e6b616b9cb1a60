/** Collects text that a program prints in pieces, up to a maximum length. */
export class BoundedText {
  private collected = '';

  /** @param limit maximum length in characters */
  constructor(private readonly limit: number) {}

  get text(): string {
    return this.collected;
  }

  add(piece: string): void {
    const free = this.limit - this.collected.length;
    if (free > 0) this.collected += piece.length > free ? piece.slice(0, free) : piece;
  }
}
