import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Outbox } from './outbox.service.js';
import { Repeated } from '../repeated-work.js';

const SWEEP_INTERVAL_MS = 5000;

/** Periodically adds unacknowledged work to the queues again. Runs in the worker process only. */
@Injectable()
export class OutboxSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly sweeps: Repeated;

  constructor(outbox: Outbox) {
    this.sweeps = new Repeated(() => outbox.sweep(), {
      everyMs: SWEEP_INTERVAL_MS,
      logger: new Logger('Worker'),
      failure: 'sweep failed',
    });
  }

  onApplicationBootstrap(): void {
    this.sweeps.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.sweeps.stop();
  }
}
