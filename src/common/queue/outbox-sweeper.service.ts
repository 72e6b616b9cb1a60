import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Outbox } from './outbox.service.js';
import { messageOf } from '../errors/message-of.js';

const SWEEP_INTERVAL_MS = 5000;

/** Periodically adds unacknowledged work to the queues again. Runs in the worker process only. */
@Injectable()
export class OutboxSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Worker');
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(private readonly outbox: Outbox) {}

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().finally(() => {
        if (!this.stopping) this.schedule(SWEEP_INTERVAL_MS);
      });
    }, delayMs);
  }

  private async sweep(): Promise<void> {
    try {
      await this.outbox.sweep();
    } catch (error) {
      const reason = messageOf(error);
      this.logger.warn({ message: 'sweep failed', reason });
    }
  }
}
