/** Numbers of used slots by key and holder. */
export class Slots<Holder> {
  private readonly totals = new Map<string, number>();
  private readonly counts = new Map<Holder, Map<string, number>>();

  /** @returns true if fewer than `max` slots were used */
  take(holder: Holder, key: string, max: number): boolean {
    if ((this.totals.get(key) ?? 0) >= max) return false;
    const holderCounts = this.counts.get(holder) ?? new Map<string, number>();
    this.counts.set(holder, holderCounts);
    add(holderCounts, key, 1);
    add(this.totals, key, 1);
    return true;
  }

  free(holder: Holder, key: string): void {
    const holderCounts = this.counts.get(holder);
    if (holderCounts) add(holderCounts, key, -1);
    add(this.totals, key, -1);
  }

  /** Frees all slots of a holder that no longer exists. */
  freeAll(holder: Holder): void {
    for (const [key, count] of this.counts.get(holder) ?? []) add(this.totals, key, -count);
    this.counts.delete(holder);
  }
}

function add(counts: Map<string, number>, key: string, step: number): void {
  const count = (counts.get(key) ?? 0) + step;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
