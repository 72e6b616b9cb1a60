/** Text that a program prints piece by piece, as much of its beginning as a limit allows. */
export class BoundedText {
  private kept = '';

  /** @param limit in characters */
  constructor(private readonly limit: number) {}

  get text(): string {
    return this.kept;
  }

  add(piece: string): void {
    const room = this.limit - this.kept.length;
    if (room > 0) this.kept += piece.length > room ? piece.slice(0, room) : piece;
  }
}
