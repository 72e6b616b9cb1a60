/** Numbers of used slots by key and holder. */
export class Slots<Holder> {
  private readonly totals = new Map<string, number>();
  private readonly held = new Map<Holder, Map<string, number>>();

  /** @returns true if fewer than `most` slots were used */
  take(holder: Holder, key: string, most: number): boolean {
    if ((this.totals.get(key) ?? 0) >= most) return false;
    const own = this.held.get(holder) ?? new Map<string, number>();
    this.held.set(holder, own);
    add(own, key, 1);
    add(this.totals, key, 1);
    return true;
  }

  free(holder: Holder, key: string): void {
    const own = this.held.get(holder);
    if (own) add(own, key, -1);
    add(this.totals, key, -1);
  }

  /** Frees all slots of a holder that no longer exists. */
  leave(holder: Holder): void {
    for (const [key, count] of this.held.get(holder) ?? []) add(this.totals, key, -count);
    this.held.delete(holder);
  }
}

function add(counts: Map<string, number>, key: string, step: number): void {
  const count = (counts.get(key) ?? 0) + step;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
