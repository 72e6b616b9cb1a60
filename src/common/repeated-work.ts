import type { Logger } from '@nestjs/common';
import { messageOf } from './errors/errors.js';

interface Repetition {
  /** Time between the end of an execution and the next execution, in ms. */
  everyMs: number;
  /** Maximum delay in ms. Each failure in a row doubles the delay up to this maximum. Default: no change. */
  maxMs?: number;
  logger: Logger;
  /** Message of the log line for the first of several failures in a row. */
  failure: string;
}

/**
 * Work that this process repeats until `stop` is called. Executions never overlap, and the shutdown of the
 * process waits for the current execution. Timers, including those of the framework, guarantee neither.
 */
export class Repeated {
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<void> = Promise.resolve();
  private failures = 0;
  private hasEnded = false;

  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly repetition: Repetition,
  ) {}

  /** True once no further execution starts. */
  get isStopped(): boolean {
    return this.hasEnded;
  }

  start(delayMs = 0): void {
    if (this.hasEnded) return;
    this.timer = setTimeout(() => {
      this.current = this.attempt().then(() => this.start(this.delayMs));
    }, delayMs).unref();
  }

  /** Prevents further executions, and waits for the current execution. */
  async stop(): Promise<void> {
    this.hasEnded = true;
    clearTimeout(this.timer);
    await this.current;
  }

  private get delayMs(): number {
    const { everyMs, maxMs = everyMs } = this.repetition;
    return Math.min(everyMs * 2 ** this.failures, maxMs);
  }

  private async attempt(): Promise<void> {
    try {
      await this.work();
      this.failures = 0;
    } catch (error) {
      const { logger, failure: message } = this.repetition;
      if (++this.failures === 1) logger.warn({ message, reason: messageOf(error) });
    }
  }
}
