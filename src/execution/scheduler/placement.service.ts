import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.service.js';
import { sql, type Sql } from '../../database/sql.js';
import { liveNodes } from '../../instances/worker-nodes.repository.js';
import { RunQueueRepository } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';

/** Runs started in one pass; the next pass follows at once when there were as many. */
const MAX_STARTS = 500;

/** Runs that all live workers together can have. */
const CAPACITY: Sql = sql`SELECT coalesce(sum(capacity), 0) FROM (${liveNodes()}) node`;

/** Gives pending runs to the workers: in the order of their launch, as far as there is room. */
@Injectable()
export class Placement {
  constructor(
    private readonly queue: RunQueueRepository,
    private readonly transitions: RunTransitions,
    private readonly outbox: Outbox,
  ) {}

  /** @returns whether more runs may be left than one pass takes */
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

  /** Says on the runs that have been pending for a while what they wait for. */
  explain(): Promise<void> {
    return this.queue.explain();
  }
}
