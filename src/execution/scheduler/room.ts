import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import type { Usage } from '../../runs/run-queue.repository.js';

/** A place for a run. */
export interface RunPlace {
  group: number;
  hostname: string;
}

interface Group {
  /** Runs that its limits still permit. */
  runsLeft: number;
  forksLeft: number;
  /** True if no run of it counts: it may be given one that is larger than its limit of forks. */
  isIdle: boolean;
  hostnames: string[];
}

/** Free capacity of instance groups and their machines, in runs. */
export class Room {
  private readonly free = new Map<string, number>();
  private readonly groups = new Map<number, Group>();

  constructor(machines: readonly GroupMachine[], usage: readonly Usage[]) {
    for (const { group_id: id, hostname, capacity, max_concurrent_jobs, max_forks } of machines) {
      this.free.set(hostname, capacity);
      const group = this.groups.get(id) ?? {
        runsLeft: max_concurrent_jobs || Infinity,
        forksLeft: max_forks || Infinity,
        isIdle: true,
        hostnames: [],
      };
      group.hostnames.push(hostname);
      this.groups.set(id, group);
    }
    for (const { hostname, group_id: id, runs, forks } of usage) {
      this.use(id, hostname, runs, forks);
    }
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
   * Occupies a place in the first of some groups that has room, on its machine with most free capacity. A
   * group with too few forks left is closed, so that no later run overtakes.
   *
   * @param impact forks that the run counts as
   * @returns null if no group has room
   */
  occupy(preferred: readonly number[], impact = 1): RunPlace | null {
    for (const id of preferred) {
      const group = this.groups.get(id);
      if (!group || !this.isOpen(group)) continue;
      if (impact > group.forksLeft && !group.isIdle) {
        group.runsLeft = 0;
        continue;
      }
      const hostname = group.hostnames.reduce((best, one) =>
        this.freeOn(one) > this.freeOn(best) ? one : best,
      );
      this.use(id, hostname, 1, impact);
      return { group: id, hostname };
    }
    return null;
  }

  private isOpen({ runsLeft, forksLeft, hostnames }: Group): boolean {
    return runsLeft > 0 && forksLeft > 0 && hostnames.some((hostname) => this.freeOn(hostname) > 0);
  }

  private freeOn(hostname: string): number {
    return this.free.get(hostname) ?? 0;
  }

  private use(id: number | null, hostname: string, runs: number, forks: number): void {
    this.free.set(hostname, this.freeOn(hostname) - runs);
    const group = id === null ? undefined : this.groups.get(id);
    if (!group) return;
    group.runsLeft -= runs;
    group.forksLeft -= forks;
    group.isIdle = false;
  }
}
