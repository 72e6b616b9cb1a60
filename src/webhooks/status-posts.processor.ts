import { InjectQueue, Process, Processor } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import type { QueueJob } from '../common/queue/bull-queue.port.js';
import { QueueProcessor } from '../common/queue/queue-processor.js';
import { StatusPoster } from './status-poster.handler.js';
import { STATUS_POSTS_QUEUE } from './status-posts.repository.js';

@Processor(STATUS_POSTS_QUEUE)
export class StatusPostsProcessor extends QueueProcessor {
  constructor(@InjectQueue(STATUS_POSTS_QUEUE) queue: Queue<QueueJob>, handler: StatusPoster) {
    super(queue, handler);
  }

  @Process({ concurrency: 10 })
  process(job: Job<QueueJob>): Promise<void> {
    return this.work(job);
  }
}
