import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import * as json from '../common/fields/json-schema.js';
import { entryOf, zip } from '../common/invariants.js';
import { ListService, type CountedList } from '../common/list/list.service.js';
import { valuesOf, type QueryParameters } from '../common/list/query.js';
import { fieldOf, resource } from '../common/resource/define-resource.js';
import { RunStatisticsRepository, type ResultsQuery } from '../runs/run-statistics.repository.js';

const PERIODS: Readonly<Record<string, Omit<ResultsQuery, 'types'>>> = {
  month: { period: '1 month', unit: 'day' },
  two_weeks: { period: '2 weeks', unit: 'day' },
  week: { period: '1 week', unit: 'day' },
  day: { period: '1 day', unit: 'hour' },
};

const JOB_TYPES: Readonly<Record<string, readonly string[]>> = {
  all: ['job', 'workflow_job', 'project_update', 'inventory_update', 'ad_hoc_command'],
  inv_sync: ['inventory_update'],
  playbook_run: ['job'],
  scm_update: ['project_update'],
};

/** Query parameters of the graph, for OpenAPI. */
export const GRAPH_PARAMETERS = [
  {
    name: 'period',
    description:
      'Period of the counts: `month` by default. `day` counts by hour, the others by day.',
    schema: { ...json.STRING, enum: Object.keys(PERIODS) },
  },
  {
    name: 'job_type',
    description: 'Kind of the counted runs: `all` by default.',
    schema: { ...json.STRING, enum: Object.keys(JOB_TYPES) },
  },
] as const;

interface DashboardList extends CountedList {
  url: string;
}

interface Kind {
  value: string;
  label: string;
  all: DashboardList;
  failed: DashboardList;
}

const FAILED = { last_job_failed: 'True' };

const listOf = (type: string, query: Record<string, string> = {}): DashboardList => {
  const definition = resource(type);
  const text = new URLSearchParams(query).toString();
  return { definition, query, url: `/api/v2/${definition.path}/${text && `?${text}`}` };
};

/** Returns the lists of a resource for each choice of a field. */
const kindsOf = (type: string, field: string): Kind[] =>
  fieldOf(resource(type), field)
    .choices.filter(([value]) => value !== '')
    .map(([choice, label]) => {
      const value = String(choice);
      const filter = { [field]: value };
      return {
        value,
        label,
        all: listOf(type, filter),
        failed: listOf(type, { ...filter, ...FAILED }),
      };
    });

/** Returns the lists that the dashboard counts, except the lists by kind. */
const dashboardLists = () => ({
  inventories: listOf('inventory'),
  withSource: listOf('inventory', { inventory_sources__isnull: 'False' }),
  withFailedHost: listOf('inventory', { hosts__last_job_host_summary__failed: 'True' }),
  withFailedSource: listOf('inventory', { inventory_sources__last_job_failed: 'True' }),
  groups: listOf('group'),
  groupsOfFailedSource: listOf('group', { inventory_sources__last_job_failed: 'True' }),
  hosts: listOf('host'),
  failedHosts: listOf('host', { last_job_host_summary__failed: 'True' }),
  projects: listOf('project'),
  failedProjects: listOf('project', FAILED),
  users: listOf('user'),
  organizations: listOf('organization'),
  teams: listOf('team'),
  credentials: listOf('credential'),
  jobTemplates: listOf('job_template'),
});

/** Counts the objects that a caller can read (docs/contract/runs.md#dashboard). */
@Injectable()
export class DashboardCountsService {
  constructor(
    private readonly lists: ListService,
    private readonly runs: RunStatisticsRepository,
  ) {}

  /** @throws Unavailable if counting takes too long */
  async load(actor: Actor): Promise<object> {
    const lists = dashboardLists();
    const sources = kindsOf('inventory_source', 'source');
    const scmTypes = kindsOf('project', 'scm_type');
    const ofKinds = [...sources, ...scmTypes].flatMap(({ all, failed }) => [all, failed]);
    const countedLists = [...Object.values(lists), ...ofKinds];
    const totals = new Map(zip(countedLists, await this.lists.totals(countedLists, actor)));
    const total = (list: DashboardList): number => entryOf(totals, list);
    const counted = (list: DashboardList) => ({ url: list.url, total: total(list) });
    const withFailures = (all: DashboardList, failed: DashboardList) => ({
      ...counted(all),
      failures_url: failed.url,
      failed: total(failed),
    });
    const byKind = (kinds: readonly Kind[]) =>
      Object.fromEntries(
        kinds.map(({ value, label, all, failed }) => [
          value,
          { ...withFailures(all, failed), label },
        ]),
      );
    return {
      related: { jobs_graph: '/api/v2/dashboard/graphs/jobs/' },
      inventories: {
        ...counted(lists.inventories),
        total_with_inventory_source: total(lists.withSource),
        job_failed: total(lists.withFailedHost),
        inventory_failed: total(lists.withFailedSource),
      },
      inventory_sources: byKind(sources),
      groups: { ...counted(lists.groups), inventory_failed: total(lists.groupsOfFailedSource) },
      hosts: withFailures(lists.hosts, lists.failedHosts),
      projects: withFailures(lists.projects, lists.failedProjects),
      scm_types: byKind(scmTypes),
      users: counted(lists.users),
      organizations: counted(lists.organizations),
      teams: counted(lists.teams),
      credentials: counted(lists.credentials),
      job_templates: counted(lists.jobTemplates),
    };
  }

  /**
   * Returns the numbers of ended runs over time.
   *
   * @throws BadRequest for an unknown period or type of job
   */
  async graph(query: QueryParameters, actor: Actor): Promise<object> {
    const range = choiceOf(PERIODS, 'period', valuesOf(query.period)[0] ?? 'month');
    const types = choiceOf(JOB_TYPES, 'job_type', valuesOf(query.job_type)[0] ?? 'all');
    const results = await this.runs.results(actor, { ...range, types });
    const points = (status: 'successful' | 'failed' | 'canceled' | 'error') =>
      results.map((result) => [result.start, result[status]]);
    return {
      jobs: {
        successful: points('successful'),
        failed: points('failed'),
        canceled: points('canceled'),
        error: points('error'),
      },
    };
  }
}

function choiceOf<Value>(
  choices: Readonly<Record<string, Value>>,
  parameter: string,
  name: string,
): Value {
  const value = Object.hasOwn(choices, name) ? choices[name] : undefined;
  if (value === undefined) {
    throw new BadRequest(`${parameter} must be one of ${Object.keys(choices).join(', ')}.`);
  }
  return value;
}
