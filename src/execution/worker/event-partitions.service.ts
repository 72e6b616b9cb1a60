import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Repeated } from '../../common/repeated-work.js';
import { Settings } from '../../config/settings.js';
import { EventPartitionsRepository } from '../../runs/events/event-partitions.repository.js';

const INTERVAL_MS = 60_000;
/** Number of partitions that cover the retention time. */
const PARTS_OF_RETENTION = 3;

/**
 * Creates the partition of future runs in advance, in every worker. Nothing waits for the partition: events
 * without a matching partition are stored in the default partition.
 */
@Injectable()
export class EventPartitions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Worker');
  private readonly rounds = new Repeated(() => this.round(), {
    everyMs: INTERVAL_MS,
    logger: this.logger,
    failure: 'partitions of events not maintained',
  });

  constructor(
    private readonly partitions: EventPartitionsRepository,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.rounds.stop();
  }

  /** Fails if a transaction locks the tables for too long; the next round tries again. */
  private async round(): Promise<void> {
    const days = Math.ceil(this.settings.EVENT_RETENTION / PARTS_OF_RETENTION);
    if (await this.partitions.extendAhead(days)) {
      this.logger.log({ message: 'partition of events added' });
    }
    await this.partitions.analyze();
  }
}
