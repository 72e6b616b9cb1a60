import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import type { QueueJob } from '../common/queue/bull-queue.port.js';
import { QueueProcessor } from '../common/queue/queue-processor.js';
import { Notifier } from './notifier.handler.js';

@Processor('notifications')
export class NotificationsProcessor extends QueueProcessor {
  constructor(@InjectQueue('notifications') queue: Queue<QueueJob>, handler: Notifier) {
    super(queue, handler);
  }

  @Process({ concurrency: 50 })
  process(job: Job<QueueJob>): Promise<void> {
    return this.work(job);
  }
}
