import { getQueueToken, Process, Processor } from '@nestjs/bull';
import type { FactoryProvider, Type } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import type { QueueJob } from '../../common/queue/bull-queue.port.js';
import { QueueProcessor } from '../../common/queue/queue-processor.js';
import { Settings } from '../../config/settings.js';
import { RunsHandler } from './runs.handler.js';

export abstract class RunsProcessor extends QueueProcessor {}

/**
 * Creates the processor class.
 *
 * @param concurrency number of runs that one worker executes in parallel
 */
function runsProcessor(concurrency: number): Type<RunsProcessor> {
  @Processor('runs')
  class ConcurrentRunsProcessor extends RunsProcessor {
    constructor(queue: Queue<QueueJob>, handler: RunsHandler) {
      super(queue, handler);
    }

    @Process({ concurrency })
    process(job: Job<QueueJob>): Promise<void> {
      return this.work(job);
    }
  }
  return ConcurrentRunsProcessor;
}

/** A factory, because decorators are evaluated before settings are read. */
export const runsProcessorProvider: FactoryProvider<RunsProcessor> = {
  provide: RunsProcessor,
  inject: [Settings, getQueueToken('runs'), RunsHandler],
  useFactory: ({ JOB_CONCURRENCY }: Settings, queue: Queue<QueueJob>, handler: RunsHandler) =>
    new (runsProcessor(JOB_CONCURRENCY))(queue, handler),
};
