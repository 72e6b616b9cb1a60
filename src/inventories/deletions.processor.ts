import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import type { QueueJob } from '../common/queue/bull-queue.port.js';
import { QueueProcessor } from '../common/queue/queue-processor.js';
import { InventoryDeletionHandler } from './inventory-deletion.handler.js';

/**
 * Processor of the queue `deletions`, which removes the rows of deleted inventories, one inventory
 * at a time.
 */
@Processor('deletions')
export class DeletionsProcessor extends QueueProcessor {
  constructor(@InjectQueue('deletions') queue: Queue<QueueJob>, handler: InventoryDeletionHandler) {
    super(queue, handler);
  }

  @Process({ concurrency: 1 })
  process(job: Job<QueueJob>): Promise<void> {
    return this.work(job);
  }
}
