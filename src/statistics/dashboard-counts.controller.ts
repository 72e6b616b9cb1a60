import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { described, INTEGER, list, mapOf, object, STRING } from '../common/fields/json-schema.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { DashboardCountsService, GRAPH_PARAMETERS } from './dashboard-counts.service.js';

const COUNTED = { url: STRING, total: INTEGER };
const WITH_FAILURES = { ...COUNTED, failures_url: STRING, failed: INTEGER };
const KINDS = mapOf(object({ ...WITH_FAILURES, label: STRING }));

const COUNTS = object({
  related: described(object({ jobs_graph: STRING }), 'Paths of further statistics.'),
  inventories: described(
    object({
      ...COUNTED,
      total_with_inventory_source: INTEGER,
      job_failed: { ...INTEGER, description: 'Inventories with a host whose last job failed.' },
      inventory_failed: {
        ...INTEGER,
        description: 'Inventories with a source whose last update failed.',
      },
    }),
    'Number of inventories, and of those with failures.',
  ),
  inventory_sources: { ...KINDS, description: 'By kind of source.' },
  groups: described(
    object({ ...COUNTED, inventory_failed: INTEGER }),
    'Number of groups, and of those with failures.',
  ),
  hosts: described(object(WITH_FAILURES), 'Number of hosts, and of those whose last job failed.'),
  projects: described(
    object(WITH_FAILURES),
    'Number of projects, and of those whose last update failed.',
  ),
  scm_types: { ...KINDS, description: 'Projects by kind of source control.' },
  users: described(object(COUNTED), 'Number of users.'),
  organizations: described(object(COUNTED), 'Number of organizations.'),
  teams: described(object(COUNTED), 'Number of teams.'),
  credentials: described(object(COUNTED), 'Number of credentials.'),
  job_templates: described(object(COUNTED), 'Number of job templates.'),
});

const POINTS = {
  ...list(list(INTEGER)),
  description: 'Start in seconds since 1970, in UTC, and the number of runs.',
};
const GRAPH = object({
  jobs: described(
    object({ successful: POINTS, failed: POINTS, canceled: POINTS, error: POINTS }),
    'Numbers of runs by time, successful and failed.',
  ),
});

/** Serves the numbers of a dashboard (docs/contract/runs.md#dashboard). */
@ApiTags('root')
@Controller('api/v2/dashboard')
export class DashboardCountsController {
  constructor(private readonly counts: DashboardCountsService) {}

  @Route({
    operationId: 'dashboard_counts',
    summary: 'Numbers of objects that the caller may read, and of those that failed.',
    response: COUNTS,
  })
  @Get()
  read(@CurrentActor() actor: Actor): Promise<object> {
    return this.counts.load(actor);
  }

  @Route({
    operationId: 'dashboard_jobs_graph',
    summary: 'Numbers of runs that ended, by day or hour and result.',
    query: GRAPH_PARAMETERS,
    response: GRAPH,
  })
  @Get('graphs/jobs')
  graph(@ListParams() query: QueryParameters, @CurrentActor() actor: Actor): Promise<object> {
    return this.counts.graph(query, actor);
  }
}
