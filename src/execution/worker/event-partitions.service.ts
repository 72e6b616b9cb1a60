import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { messageOf } from '../../common/errors/message-of.js';
import { Settings } from '../../config/settings.js';
import { EventPartitionsRepository } from '../../runs/events/event-partitions.repository.js';

const INTERVAL_MS = 60_000;
/** Fraction of the retention time whose runs share one partition. */
const PARTS_OF_RETENTION = 3;

/**
 * Creates the partition of future runs in time. Every worker does so, and nothing waits for it:
 * events without a partition of their own are stored in the default partition.
 */
@Injectable()
export class EventPartitions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Worker');
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private isStopping = false;

  constructor(
    private readonly partitions: EventPartitionsRepository,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.working;
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.working = this.round().finally(() => {
        if (!this.isStopping) this.schedule(INTERVAL_MS);
      });
    }, delayMs).unref();
  }

  private async round(): Promise<void> {
    try {
      const days = Math.ceil(this.settings.EVENT_RETENTION / PARTS_OF_RETENTION);
      if (await this.partitions.extendAhead(days)) {
        this.logger.log({ message: 'partition of events added' });
      }
      await this.partitions.analyze();
    } catch (error) {
      // If another worker holds the lock, the next round retries.
      const reason = messageOf(error);
      this.logger.warn({ message: 'partitions of events not looked after', reason });
    }
  }
}
