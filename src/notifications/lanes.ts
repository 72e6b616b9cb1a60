/** Result of adding work to a lane. */
export type LaneEntry = 'ran' | 'queued' | 'duplicate' | 'full';

interface Waiting {
  readonly id: number;
  readonly work: () => Promise<void>;
}

interface Lane {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Isolates destinations from each other: each has a lane that runs at most `width` tasks concurrently. Further
 * tasks wait in their own lane, so that a slow destination does not delay the others.
 */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  private readonly ids = new Set<number>();
  private readonly active = new Set<Promise<void>>();
  private closed = false;

  /** @param capacity maximum number of running and waiting tasks of all lanes together */
  constructor(
    private readonly width: number,
    private readonly capacity: number,
  ) {}

  /**
   * Runs the task now and waits for its end, or queues it in its lane and returns immediately. A task
   * whose id is already present is dropped (`duplicate`). Tasks must not throw.
   */
  async enter(name: string, id: number, work: () => Promise<void>): Promise<LaneEntry> {
    if (this.ids.has(id)) return 'duplicate';
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

  /** Drops waiting tasks. Running tasks continue. */
  close(): void {
    this.closed = true;
    for (const lane of this.lanes.values()) lane.waiting.length = 0;
  }

  /** Waits until no task is running. */
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
