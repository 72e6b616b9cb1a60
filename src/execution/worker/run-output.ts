import { randomUUID } from 'node:crypto';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import { toEventRow } from '../runner/events.js';
import type { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';

const FLUSH_MS = 250;
/** Characters that are stored without waiting. */
const FLUSH_LENGTH = 262_144;

/**
 * Stores plain output, such as git's, as `verbose` events: whole lines, several to an event. Texts
 * may come at any time; they are stored one batch after the other.
 */
export class RunOutput {
  private pending = '';
  private storing: Promise<void> = Promise.resolve();
  private failure: unknown;
  private timer: NodeJS.Timeout | undefined;

  /** @param position last counter and line the run has used so far */
  constructor(
    private readonly store: EventStore,
    private readonly run: ActiveRun,
    private readonly position: { counter: number; line: number },
  ) {}

  /** Last counter used. */
  get counter(): number {
    return this.position.counter;
  }

  add(text: string): void {
    this.pending += text;
    if (this.pending.length > FLUSH_LENGTH) this.flush(false);
    else this.timer ??= setTimeout(() => this.flush(false), FLUSH_MS);
  }

  /** Stores what is left. @throws what storing has thrown at any time */
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
