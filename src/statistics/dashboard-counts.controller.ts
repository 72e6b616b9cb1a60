import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { QueryParameters } from '../common/list/query.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { DashboardCountsService, GRAPH_PARAMETERS } from './dashboard-counts.service.js';

const COUNTED = { url: json.STRING, total: json.INTEGER };
const WITH_FAILURES = { ...COUNTED, failures_url: json.STRING, failed: json.INTEGER };
const KINDS = json.mapOf(json.object({ ...WITH_FAILURES, label: json.STRING }));

const COUNTS = json.object({
  related: json.described(json.object({ jobs_graph: json.STRING }), 'Paths of further statistics.'),
  inventories: json.described(
    json.object({
      ...COUNTED,
      total_with_inventory_source: json.INTEGER,
      job_failed: {
        ...json.INTEGER,
        description: 'Inventories with a host whose last job failed.',
      },
      inventory_failed: {
        ...json.INTEGER,
        description: 'Inventories with a source whose last update failed.',
      },
    }),
    'Number of inventories, and of those with failures.',
  ),
  inventory_sources: { ...KINDS, description: 'By kind of source.' },
  groups: json.described(
    json.object({ ...COUNTED, inventory_failed: json.INTEGER }),
    'Number of groups, and of those with failures.',
  ),
  hosts: json.described(
    json.object(WITH_FAILURES),
    'Number of hosts, and of those whose last job failed.',
  ),
  projects: json.described(
    json.object(WITH_FAILURES),
    'Number of projects, and of those whose last update failed.',
  ),
  scm_types: { ...KINDS, description: 'Projects by kind of source control.' },
  users: json.described(json.object(COUNTED), 'Number of users.'),
  organizations: json.described(json.object(COUNTED), 'Number of organizations.'),
  teams: json.described(json.object(COUNTED), 'Number of teams.'),
  credentials: json.described(json.object(COUNTED), 'Number of credentials.'),
  job_templates: json.described(json.object(COUNTED), 'Number of job templates.'),
});

const POINTS = {
  ...json.list(json.list(json.INTEGER)),
  description: 'Start in seconds since 1970, in UTC, and the number of runs.',
};
const GRAPH = json.object({
  jobs: json.described(
    json.object({ successful: POINTS, failed: POINTS, canceled: POINTS, error: POINTS }),
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
