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
/** A partition holds the events of so many runs as come in this part of the time they are kept. */
const PARTS_OF_RETENTION = 3;

/**
 * Keeps a partition ready for the events of runs to come. Every worker does; nothing waits for it, since
 * events without a partition of their own are stored all the same.
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
      // A lock that others hold is had at the next round.
      const reason = messageOf(error);
      this.logger.warn({ message: 'partitions of events not looked after', reason });
    }
  }
}
