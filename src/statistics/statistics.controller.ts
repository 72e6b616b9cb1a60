import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { STATISTICS_PARAMETERS, StatisticsService, type Statistics } from './statistics.service.js';

const SECONDS = { ...json.orNull(json.NUMBER), description: 'Null on days without ended jobs.' };

const STATISTICS = json.object({
  days: json.described(json.INTEGER, 'Length of the period.'),
  outcomes: json.described(
    json.list(
      json.object({
        day: { ...json.STRING, description: '`2026-01-31`, in UTC.' },
        successful: json.INTEGER,
        failed: json.INTEGER,
        error: json.INTEGER,
        canceled: json.INTEGER,
        median_seconds: SECONDS,
        longest_seconds: SECONDS,
      }),
    ),
    'Numbers of runs by day and status.',
  ),
  slow_tasks: json.described(
    json.list(
      json.object({
        task: json.STRING,
        job_template: json.orNull(json.INTEGER),
        name: json.STRING,
        times: json.INTEGER,
        mean_seconds: json.NUMBER,
        longest_seconds: json.NUMBER,
      }),
    ),
    'Tasks with the longest duration.',
  ),
  failing_hosts: json.described(
    json.list(
      json.object({
        host: json.orNull(json.INTEGER),
        name: json.STRING,
        jobs: json.INTEGER,
        failed: json.INTEGER,
        last_failed: json.INTEGER,
      }),
    ),
    'Hosts that fail most.',
  ),
  queue: json.described(
    json.list(json.object({ status: json.STRING, runs: json.INTEGER, oldest: json.INSTANT })),
    'Number of runs that are not finished, by status.',
  ),
  capacity: {
    ...json.orNull(json.object({ capacity: json.INTEGER, consumed: json.INTEGER })),
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
