import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import {
  described,
  INSTANT,
  INTEGER,
  list,
  NUMBER,
  object,
  orNull,
  STRING,
} from '../common/fields/json-schema.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { STATISTICS_PARAMETERS, StatisticsService, type Statistics } from './statistics.service.js';

const SECONDS = { ...orNull(NUMBER), description: 'Null on days without ended jobs.' };

const STATISTICS = object({
  days: described(INTEGER, 'Length of the period.'),
  outcomes: described(
    list(
      object({
        day: { ...STRING, description: '`2026-01-31`, in UTC.' },
        successful: INTEGER,
        failed: INTEGER,
        error: INTEGER,
        canceled: INTEGER,
        median_seconds: SECONDS,
        longest_seconds: SECONDS,
      }),
    ),
    'Numbers of runs by day and status.',
  ),
  slow_tasks: described(
    list(
      object({
        task: STRING,
        job_template: orNull(INTEGER),
        name: STRING,
        times: INTEGER,
        mean_seconds: NUMBER,
        longest_seconds: NUMBER,
      }),
    ),
    'Tasks with the longest duration.',
  ),
  failing_hosts: described(
    list(
      object({
        host: orNull(INTEGER),
        name: STRING,
        jobs: INTEGER,
        failed: INTEGER,
        last_failed: INTEGER,
      }),
    ),
    'Hosts that fail most.',
  ),
  queue: described(
    list(object({ status: STRING, runs: INTEGER, oldest: INSTANT })),
    'Number of runs that are not finished, by status.',
  ),
  capacity: {
    ...orNull(object({ capacity: INTEGER, consumed: INTEGER })),
    description: 'Null for users who do not operate the installation.',
  },
});

/** Serves statistics of recent runs (docs/contract/runs.md#statistics). */
@ApiTags('root')
@Controller()
export class StatisticsController {
  constructor(private readonly service: StatisticsService) {}

  @Route({
    operationId: 'statistics',
    summary: 'Return statistics of recent and waiting jobs that the caller may read.',
    query: STATISTICS_PARAMETERS,
    response: STATISTICS,
  })
  @Get('api/v2/statistics')
  read(@ListParams() query: QueryParameters, @CurrentActor() actor: Actor): Promise<Statistics> {
    return this.service.load(query, actor);
  }
}
