import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { WAKE_CHANNEL } from '../../common/queue/bull-queue.port.js';
import { failPoint } from '../../common/fail-point.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { Subscriber } from '../worker/subscriber.service.js';
import { Dependencies } from './dependencies.service.js';
import { Placement } from './placement.service.js';
import { DueSchedules } from '../../schedules/due-schedules.service.js';
import { WorkflowEngine } from '../workflow-engine/workflow-engine.js';
import { messageOf } from '../../common/errors/errors.js';

const TIMER_MS = 3000;
/** Key of the scheduler's advisory lock, unique in this database. */
const LOCK_KEY = 7401;

/**
 * Scheduler. The worker that gets the lock performs the pass, so there is one logical scheduler among all
 * workers. Every worker receives every wake-up, so a worker that does not get the lock can skip its pass.
 * The timer covers lost wake-ups.
 */
@Injectable()
export class Scheduler implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Scheduler');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isRequested = false;
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly dependencies: Dependencies,
    private readonly placement: Placement,
    private readonly subscriber: Subscriber,
    private readonly workflows: WorkflowEngine,
    private readonly schedules: DueSchedules,
  ) {}

  onApplicationBootstrap(): void {
    this.subscriber.listen(WAKE_CHANNEL, () => this.wake());
    this.tick();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Requests a pass; wake-ups during a pass lead to one more. */
  wake(): void {
    this.isRequested = true;
    if (this.isStopping) return;
    this.running ??= this.work().finally(() => (this.running = undefined));
  }

  /**
   * Performs one pass, with a number of statements that is independent of the number of runs.
   *
   * @returns true if another pass must follow immediately; null if another worker has the lock
   */
  async pass(): Promise<boolean | null> {
    // First, so that runs of schedules and workflows are placed in the same pass.
    const moreIsDue = await this.isolate(() => this.schedules.launchDue());
    const moreToAdvance = await this.isolate(() => this.workflows.advance());
    return this.database.transaction(async () => {
      const lock = await this.database.row<{ taken: boolean }>(sql`
        SELECT pg_try_advisory_xact_lock(${LOCK_KEY}) AS taken`);
      if (!lock?.taken) return null;
      const moreToSettle = await this.dependencies.settle();
      await this.dependencies.endBroken();
      const moreToPlace = await this.placement.place();
      failPoint('run-scheduled');
      return moreIsDue || moreToAdvance || moreToSettle || moreToPlace;
    });
  }

  /**
   * Runs a step in its own transaction, so that a broken workflow does not prevent other runs from
   * starting.
   */
  private async isolate(step: () => Promise<boolean>): Promise<boolean> {
    let hasMore = false;
    await this.attempt(async () => {
      hasMore = await this.database.transaction(step);
    });
    return hasMore;
  }

  private async work(): Promise<void> {
    while (this.isRequested && !this.isStopping) {
      this.isRequested = false;
      await this.attempt(async () => {
        if (await this.pass()) this.isRequested = true;
      });
    }
  }

  private tick(): void {
    this.timer = setTimeout(() => {
      void this.attempt(() => this.placement.explain());
      void this.attempt(() => this.workflows.explain());
      this.tick();
    }, TIMER_MS).unref();
    this.wake();
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ message: 'pass failed', reason: messageOf(error) });
    }
  }
}
