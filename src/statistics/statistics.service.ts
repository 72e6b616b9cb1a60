import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { wholeNumberOf, type QueryParameters } from '../common/list/query.js';
import { WorkerNodesRepository } from '../instances/worker-nodes.repository.js';
import {
  RunStatisticsRepository,
  type DayOutcomes,
  type FailingHost,
  type QueuedRuns,
  type SlowTask,
} from '../runs/run-statistics.repository.js';

/** The query parameters of statistics, for OpenAPI. */
export const STATISTICS_PARAMETERS = [
  { name: 'days', description: 'Period in days: 1 to 90, 14 by default.', schema: json.INTEGER },
] as const;

const DAYS = { absent: 14, max: 90 };
/**
 * Maximum number of the newest runs that are read, so that the cost is independent of the table
 * size.
 */
const NEWEST = 20_000;
const HOST_JOBS = 500;
const TASK_JOBS = 50;
const MAX_ROWS = 10;

/** Capacity of all machines that accept runs, and its used part, in forks. */
export interface Capacity {
  capacity: number;
  consumed: number;
}

export interface Statistics {
  days: number;
  outcomes: DayOutcomes[];
  slow_tasks: SlowTask[];
  failing_hosts: FailingHost[];
  queue: QueuedRuns[];
  /** Null unless the caller is a superuser or a system auditor. */
  capacity: Capacity | null;
}

/** Computes statistics of recent runs that the caller may read (docs/contract/runs.md#statistics). */
@Injectable()
export class StatisticsService {
  constructor(
    private readonly runs: RunStatisticsRepository,
    private readonly workers: WorkerNodesRepository,
  ) {}

  /** @throws BadRequest for an invalid number of days */
  async load(query: QueryParameters, actor: Actor): Promise<Statistics> {
    const days = wholeNumberOf(query, 'days', DAYS);
    return {
      days,
      outcomes: await this.runs.outcomes(actor, { days, newest: NEWEST }),
      slow_tasks: await this.runs.slowTasks(actor, { days, jobs: TASK_JOBS }, MAX_ROWS),
      failing_hosts: await this.runs.failingHosts(actor, { days, jobs: HOST_JOBS }, MAX_ROWS),
      queue: await this.runs.queue(actor),
      capacity: await this.capacity(actor),
    };
  }

  private async capacity({ isSuperuser, isSystemAuditor }: Actor): Promise<Capacity | null> {
    if (!isSuperuser && !isSystemAuditor) return null;
    const { capacity, consumed_capacity: consumed } = await this.workers.load();
    return { capacity, consumed };
  }
}
