import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { sql, type Sql } from '../../database/sql.js';
import { liveNodes } from '../../instances/worker-nodes.repository.js';
import { RunQueueRepository } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';

/** Maximum number of runs started per pass; if a pass reaches it, the next one follows at once. */
const MAX_STARTS = 500;

/** Total number of runs that all live workers can execute. */
const CAPACITY: Sql = sql`SELECT coalesce(sum(capacity), 0) FROM (${liveNodes()}) node`;

/** Assigns pending runs to the workers in launch order, as far as capacity permits. */
@Injectable()
export class Placement {
  constructor(
    private readonly queue: RunQueueRepository,
    private readonly transitions: RunTransitions,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Places pending runs.
   *
   * @returns true if more runs can be ready than one pass takes
   */
  async place(): Promise<boolean> {
    const ready = await this.queue.ready(CAPACITY, MAX_STARTS);
    if (ready.length === 0) return false;
    const placed = await this.transitions.move(ready, { from: ['pending'], to: 'waiting' });
    await this.outbox.add(
      'runs',
      placed.map(({ id }) => id).sort((left, right) => left - right),
    );
    return ready.length === MAX_STARTS;
  }

  /** Updates the explanations of runs that have been pending for a while. */
  explain(): Promise<void> {
    return this.queue.explain();
  }
}
