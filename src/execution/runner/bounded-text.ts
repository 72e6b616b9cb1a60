/** Collects text that a program prints in pieces, up to a maximum length. */
export class BoundedText {
  private kept = '';

  /** @param limit maximum length in characters */
  constructor(private readonly limit: number) {}

  get text(): string {
    return this.kept;
  }

  add(piece: string): void {
    const room = this.limit - this.kept.length;
    if (room > 0) this.kept += piece.length > room ? piece.slice(0, room) : piece;
  }
}
