/** What became of work that was handed in. */
export type LaneEntry = 'ran' | 'queued' | 'known' | 'full';

interface Waiting {
  readonly id: number;
  readonly work: () => Promise<void>;
}

interface Lane {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Shares a process among destinations: each has a lane with room for `width` pieces of work at
 * once, and what does not fit waits in its own lane instead of standing in everybody's way.
 */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  private readonly ids = new Set<number>();
  private readonly active = new Set<Promise<void>>();
  private closed = false;

  /** @param capacity how much may be running or waiting in all lanes together */
  constructor(
    private readonly width: number,
    private readonly capacity: number,
  ) {}

  /**
   * Runs the work at once, and resolves when it is done, or takes it into its lane's queue and
   * resolves immediately. Work whose id is here already is dropped (`known`). Work must not throw.
   */
  async enter(name: string, id: number, work: () => Promise<void>): Promise<LaneEntry> {
    if (this.ids.has(id)) return 'known';
    if (this.closed || this.ids.size >= this.capacity) return 'full';
    const lane = this.lanes.get(name) ?? { running: 0, waiting: [] };
    this.lanes.set(name, lane);
    this.ids.add(id);
    if (lane.running >= this.width) {
      lane.waiting.push({ id, work });
      return 'queued';
    }
    await this.run(name, lane, { id, work });
    return 'ran';
  }

  /** Drops what waits; what runs goes on. */
  close(): void {
    this.closed = true;
    for (const lane of this.lanes.values()) lane.waiting.length = 0;
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  private run(name: string, lane: Lane, { id, work }: Waiting): Promise<void> {
    lane.running++;
    const running = work().finally(() => {
      lane.running--;
      this.ids.delete(id);
      this.active.delete(running);
      this.advance(name, lane);
    });
    this.active.add(running);
    return running;
  }

  private advance(name: string, lane: Lane): void {
    const next = lane.waiting.shift();
    if (next) {
      void this.run(name, lane, next);
    } else if (lane.running === 0) {
      this.lanes.delete(name);
    }
  }
}
