import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import type { Usage } from '../../runs/run-queue.repository.js';

/** A place for a run. */
export interface RunPlace {
  group: number;
  hostname: string;
}

interface Group {
  /** Runs that its limit still permits. */
  left: number;
  hostnames: string[];
}

/** Free capacity of instance groups and their machines, in runs. */
export class Room {
  private readonly free = new Map<string, number>();
  private readonly groups = new Map<number, Group>();

  constructor(machines: readonly GroupMachine[], usage: readonly Usage[]) {
    for (const { group_id: id, hostname, capacity, max_concurrent_jobs: limit } of machines) {
      this.free.set(hostname, capacity);
      const group = this.groups.get(id) ?? { left: limit === 0 ? Infinity : limit, hostnames: [] };
      group.hostnames.push(hostname);
      this.groups.set(id, group);
    }
    for (const { hostname, group_id: id, runs } of usage) this.use(id, hostname, runs);
  }

  /** The groups that can be given a run. */
  get open(): number[] {
    return [...this.groups].filter(([, group]) => this.isOpen(group)).map(([id]) => id);
  }

  /** Runs that the open groups can be given together. */
  get size(): number {
    const groups = [...this.groups.values()].filter((group) => this.isOpen(group));
    const hostnames = new Set(groups.flatMap((group) => group.hostnames));
    return [...hostnames].reduce(
      (total, hostname) => total + Math.max(0, this.freeOn(hostname)),
      0,
    );
  }

  /**
   * Takes a place in the first of some groups that is open, on its machine with most free capacity.
   *
   * @returns null if no group is open
   */
  take(preferred: readonly number[]): RunPlace | null {
    for (const id of preferred) {
      const group = this.groups.get(id);
      if (!group || !this.isOpen(group)) continue;
      const hostname = group.hostnames.reduce((best, one) =>
        this.freeOn(one) > this.freeOn(best) ? one : best,
      );
      this.use(id, hostname, 1);
      return { group: id, hostname };
    }
    return null;
  }

  private isOpen({ left, hostnames }: Group): boolean {
    return left > 0 && hostnames.some((hostname) => this.freeOn(hostname) > 0);
  }

  private freeOn(hostname: string): number {
    return this.free.get(hostname) ?? 0;
  }

  private use(id: number | null, hostname: string, runs: number): void {
    this.free.set(hostname, this.freeOn(hostname) - runs);
    const group = id === null ? undefined : this.groups.get(id);
    if (group) group.left -= runs;
  }
}
