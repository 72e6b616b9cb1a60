import type { GroupMachine } from '../../instances/instance-groups.repository.js';
import type { SimilarRuns, Usage } from '../../runs/run-queue.repository.js';

/** Group and machine of a run. */
export interface RunAssignment {
  group: number;
  hostname: string;
}

/** Requirements of a run for its machine. */
export type Requirements = Pick<SimilarRuns, 'impact' | 'needs_engine'>;

interface Machine {
  readonly hostname: string;
  readonly hasEngine: boolean;
  /** Number of runs that the workers of the machine can still execute. */
  slots: number;
  forks: number;
  isIdle: boolean;
}

interface Group {
  /** Number of runs that the limits of the group still permit. */
  freeRuns: number;
  freeForks: number;
  /** True if the group has no active run: the group can then get a run that exceeds its limit of forks. */
  isIdle: boolean;
  /** Machines for runs of the group, without machines that an earlier run waits for. */
  machines: Machine[];
}

/** Free capacity of instance groups and their machines (docs/contract/runs.md#placement). */
export class FreeCapacity {
  private readonly machines = new Map<string, Machine>();
  private readonly groups = new Map<number, Group>();

  constructor(machines: readonly GroupMachine[], usage: readonly Usage[]) {
    for (const row of machines) {
      const { group_id: id, hostname, slots, capacity: forks, has_engine: hasEngine } = row;
      const known = this.machines.get(hostname);
      const machine = known ?? { hostname, hasEngine, slots, forks, isIdle: true };
      this.machines.set(hostname, machine);
      const group = this.groups.get(id) ?? {
        freeRuns: row.max_concurrent_jobs || Infinity,
        freeForks: row.max_forks || Infinity,
        isIdle: true,
        machines: [],
      };
      group.machines.push(machine);
      this.groups.set(id, group);
    }
    for (const { hostname, group_id: id, runs, forks } of usage) {
      this.use(this.groups.get(id ?? 0), this.machines.get(hostname), runs, forks);
    }
  }

  /**
   * Reserves capacity in the first group that has capacity. If no group has capacity, later runs of these
   * groups cannot use the machines that the run waits for: the suitable machines, or all machines if the
   * group lacks forks.
   *
   * @returns null if no group has capacity
   */
  reserve(preferred: readonly number[], need: Requirements): RunAssignment | null {
    const open = preferred.flatMap((id) => {
      const group = this.groups.get(id);
      return group && isOpen(group, need) ? [{ id, group }] : [];
    });
    for (const { id, group } of open) {
      const machine = choose(group, need);
      if (!machine) continue;
      this.use(group, machine, 1, need.impact);
      return { group: id, hostname: machine.hostname };
    }
    for (const { group } of open) {
      const isFull = need.impact > group.freeForks;
      group.machines = group.machines.filter((machine) => !isFull && !isSuitable(machine, need));
    }
    return null;
  }

  private use(
    group: Group | undefined,
    machine: Machine | undefined,
    runs: number,
    forks: number,
  ): void {
    if (machine) {
      machine.slots -= runs;
      machine.forks -= forks;
      machine.isIdle = false;
    }
    if (!group) return;
    group.freeRuns -= runs;
    group.freeForks -= forks;
    group.isIdle = false;
  }
}

const isSuitable = ({ hasEngine }: Machine, { needs_engine: needsEngine }: Requirements): boolean =>
  hasEngine || !needsEngine;

const isOpen = ({ freeRuns, freeForks, machines }: Group, need: Requirements): boolean =>
  freeRuns > 0 && freeForks > 0 && machines.some((machine) => isFree(machine, need));

const isFree = (machine: Machine, need: Requirements): boolean =>
  machine.slots > 0 && (machine.forks > 0 || machine.isIdle) && isSuitable(machine, need);

/**
 * Returns the machine with the most free forks among those with enough forks for a run. If no machine has
 * enough, returns the largest idle machine: a run that is larger than every machine gets its own machine.
 */
function choose({ machines, freeForks, isIdle }: Group, need: Requirements): Machine | undefined {
  if (need.impact > freeForks && !isIdle) return undefined;
  const suitable = machines.filter((machine) => machine.slots > 0 && isSuitable(machine, need));
  const fitting = suitable.filter(({ forks }) => forks >= need.impact);
  return largest(fitting.length > 0 ? fitting : suitable.filter((machine) => machine.isIdle));
}

const largest = (machines: readonly Machine[]): Machine | undefined =>
  machines.reduce<Machine | undefined>(
    (best, machine) => (best === undefined || machine.forks > best.forks ? machine : best),
    undefined,
  );
