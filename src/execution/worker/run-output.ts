import { randomUUID } from 'node:crypto';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import { toEventRow } from '../runner/events.js';
import type { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';

const FLUSH_MS = 250;
/** Length of pending output, in characters, at which it is stored without delay. */
const FLUSH_LENGTH = 262_144;

/**
 * Stores plain output, such as git's, as `verbose` events of one or more whole lines. Texts can
 * arrive at any time and are stored in sequential batches.
 */
export class RunOutput {
  private pending = '';
  private storing: Promise<void> = Promise.resolve();
  private failure: unknown;
  private timer: NodeJS.Timeout | undefined;

  /** @param position last counter and line that the run has used */
  constructor(
    private readonly store: EventStore,
    private readonly run: ActiveRun,
    private readonly position: { counter: number; line: number },
  ) {}

  /** Last used counter. */
  get counter(): number {
    return this.position.counter;
  }

  add(text: string): void {
    this.pending += text;
    if (this.pending.length > FLUSH_LENGTH) this.flush(false);
    else this.timer ??= setTimeout(() => this.flush(false), FLUSH_MS);
  }

  /**
   * Stores the remaining output.
   *
   * @throws the first error of storing, from this or an earlier batch
   */
  async end(): Promise<void> {
    this.flush(true);
    await this.storing;
    if (this.failure !== undefined) throw this.failure;
  }

  private flush(isEnd: boolean): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const cut = isEnd ? this.pending.length : this.pending.lastIndexOf('\n') + 1;
    const text = this.pending.slice(0, cut).replace(/\r?\n$/, '');
    this.pending = this.pending.slice(cut);
    if (cut === 0) return;
    const event = this.event(text);
    this.storing = this.storing
      .then(() => this.store.store(this.run, [event]))
      .catch((error: unknown) => void (this.failure ??= error));
  }

  private event(stdout: string): EventRow {
    const startLine = this.position.line;
    this.position.counter += 1;
    this.position.line += stdout.split('\n').length;
    return toEventRow({
      uuid: randomUUID(),
      counter: this.position.counter,
      event: 'verbose',
      stdout,
      start_line: startLine,
      end_line: this.position.line,
      created: new Date().toISOString(),
    });
  }
}
