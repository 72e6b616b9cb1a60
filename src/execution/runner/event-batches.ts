import type { RunnerEvent } from './events.js';

export interface BatchOptions {
  /** Maximum number of events in a batch. */
  readonly maxEvents: number;
  /** Maximum time that an event waits for its batch to fill, in ms. */
  readonly maxDelayMs: number;
  /** Number of unsettled batches at which the source should pause. */
  readonly maxInFlight: number;
  /** Called with true if more batches can follow, with false if the source must wait. */
  readonly onFlow: (mayFlow: boolean) => void;
  /** Called when a batch was rejected; no further batch is delivered. */
  readonly onError: (error: unknown) => void;
}

/**
 * Size of the output at which a batch is complete, in bytes: the events of a batch need about 60 times as
 * much memory if a run prints the smallest values.
 */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Groups events into batches, in order, with a limited number of batches in flight. */
export class EventBatches {
  private pending: RunnerEvent[] = [];
  private pendingBytes = 0;
  private inFlight = 0;
  private timer: NodeJS.Timeout | null = null;
  private hasFailed = false;
  private whenIdle: (() => void) | null = null;

  constructor(
    private readonly deliver: (batch: RunnerEvent[]) => Promise<void> | void,
    private readonly options: BatchOptions,
  ) {}

  /** @param bytes size of the output that was read */
  add(events: readonly RunnerEvent[], bytes = 0): void {
    if (this.hasFailed) return;
    this.pendingBytes += bytes;
    for (const event of events) {
      this.pending.push(event);
      if (this.pending.length >= this.options.maxEvents) this.flush();
    }
    if (this.pendingBytes >= MAX_BATCH_BYTES) this.flush();
    if (this.pending.length > 0)
      this.timer ??= setTimeout(() => this.flush(), this.options.maxDelayMs);
  }

  /** Delivers the remaining events. Resolves when every delivered batch was accepted or rejected. */
  async drain(): Promise<void> {
    this.flush();
    if (this.inFlight > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.pending.length === 0 || this.hasFailed) return;
    const batch = this.pending;
    this.pending = [];
    this.pendingBytes = 0;
    this.inFlight += 1;
    if (this.inFlight === this.options.maxInFlight) this.options.onFlow(false);
    void this.send(batch);
  }

  private async send(batch: RunnerEvent[]): Promise<void> {
    try {
      await this.deliver(batch);
    } catch (error) {
      if (!this.hasFailed) this.options.onError(error);
      this.hasFailed = true;
    }
    this.inFlight -= 1;
    if (this.inFlight === this.options.maxInFlight - 1) this.options.onFlow(true);
    if (this.inFlight === 0) this.whenIdle?.();
  }
}
