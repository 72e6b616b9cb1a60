import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { EventBatches } from './event-batches.js';
import { EventReader } from './event-reader.js';
import { readMissedEvents } from './run-artifacts.js';
import type { RunOptions } from './run-options.js';
import type { Workspace } from './workspace.js';

/** A process whose output is read. */
export type RunChild = ChildProcess & { stdout: Readable; stderr: Readable };

const STDERR_TAIL_BYTES = 64 * 1024;
/** Time without output after the last process ended until an open pipe is closed, in ms. */
const PIPE_GRACE_MS = 5_000;

/** The output of a run: its events, in batches, and the end of its error output. */
export class RunnerOutput {
  private readonly reader = new EventReader();
  private readonly batches: EventBatches;
  private child: RunChild | null = null;
  private closed: Promise<void> = Promise.resolve();
  private stderr = Buffer.alloc(0);
  private bytesRead = 0;
  /**
   * Time of the last output in ms, of a clock that is never set; infinite while the output is not read.
   */
  private lastRead = performance.now();

  /**
   * @param onFirst called when the first output of the run arrives
   * @param onError called when an event was not accepted
   */
  constructor(
    options: RunOptions,
    private readonly onFirst: () => void,
    onError: (error: unknown) => void,
  ) {
    this.batches = new EventBatches(options.onEvents, {
      maxEvents: options.batchSize ?? 200,
      maxDelayMs: options.batchDelayMs ?? 250,
      maxInFlight: options.maxBatchesInFlight ?? 4,
      onFlow: (mayFlow) => {
        this.lastRead = mayFlow ? performance.now() : Infinity;
        if (mayFlow) this.child?.stdout.resume();
        else this.child?.stdout.pause();
      },
      onError,
    });
  }

  /** True once the run has printed something. */
  get hasOutput(): boolean {
    return this.bytesRead > 0;
  }

  /** Time since the last output, in ms; negative while the output is not read. */
  get idleMs(): number {
    return performance.now() - this.lastRead;
  }

  /** Last 64 KB of the error output. */
  get stderrTail(): string {
    return this.stderr.toString('utf8');
  }

  follow(child: RunChild): void {
    this.child = child;
    this.closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdout.on('data', (chunk: Buffer) => this.takeOutput(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = Buffer.concat([this.stderr, chunk]).subarray(-STDERR_TAIL_BYTES);
    });
  }

  /** Resolves when all output and all missed events among the artifacts were processed. */
  async end(workspace: Workspace): Promise<void> {
    await this.waitForPipes();
    this.batches.add(this.reader.end());
    await this.batches.drain();
    for await (const event of readMissedEvents(workspace, this.reader)) {
      this.batches.add([event]);
      // One by one, because the run can have filled each of its files.
      await this.batches.drain();
    }
  }

  private takeOutput(chunk: Buffer): void {
    const isFirst = !this.hasOutput;
    this.bytesRead += chunk.length;
    this.lastRead = performance.now();
    if (isFirst) this.onFirst();
    this.batches.add(this.reader.read(chunk), chunk.length);
  }

  /** Waits until the pipes are closed or give no more output, however slowly the events are processed. */
  private async waitForPipes(): Promise<void> {
    let isClosed = false;
    void this.closed.then(() => (isClosed = true));
    for (let previous = -1; !isClosed;) {
      const timer = new Promise<void>((resolve) => setTimeout(resolve, PIPE_GRACE_MS).unref());
      await Promise.race([this.closed, timer]);
      const isStuck = previous === this.bytesRead && !this.child?.stdout.isPaused();
      if (isStuck) {
        this.child?.stdout.destroy();
        this.child?.stderr.destroy();
        return;
      }
      previous = this.bytesRead;
    }
  }
}
