import { Controller, Get, Header, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ApiRequest } from '../../common/http/request.js';
import { BOOLEAN, INTEGER, mapOf, object, STRING } from '../../common/fields/json-schema.js';
import { Route } from '../../common/rest/route.js';
import type { Page } from '../../common/list/page.js';
import { Machinery } from '../../common/rest/machinery.js';
import type { Representation } from '../../common/resource/represent.js';
import { ResourceController } from '../../common/rest/resource.controller.js';
import { Resource } from '../../common/rest/resource.decorator.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { projectUpdates } from '../../projects/project-updates.resource.js';
import { listJobEvents } from './job-event-list.js';
import {
  summarizeTree,
  UNFINISHED,
  type ChildrenSummary,
  type TreeEvent,
} from './job-event-tree.js';
import { jobEvents, jobHostSummaries } from './job-events.resource.js';
import { jobs } from '../jobs.resource.js';

jobs.links.set('job_events', 'job_events');
projectUpdates.links.set('events', 'events');
jobEvents.links.set('children', 'children');

const LIST = { kind: 'list', access: 'authenticated', resource: jobEvents } as const;

/** Events of all runs the caller may read. */
@Resource(jobEvents)
export class JobEventsController extends ResourceController(jobEvents, ['retrieve']) {
  constructor(
    machinery: Machinery,
    private readonly settings: Settings,
  ) {
    super(machinery);
  }

  @Get()
  @Route({
    ...LIST,
    operationId: 'job_events_list',
    summary: 'List of job events.',
    events: true,
  })
  list(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return listJobEvents(this.machinery.resources, request, this.maxBytes, { events: true });
  }

  @Get(':id/children')
  @Route({
    ...LIST,
    operationId: 'job_events_children_list',
    summary: 'Events directly below one event.',
    parent: jobEvents,
  })
  async children(@Req() request: ApiRequest): Promise<Page<Representation>> {
    const { resources } = this.machinery;
    const event = await resources.load(jobEvents, request.params.id, request.actor);
    return listJobEvents(resources, request, this.maxBytes, {
      scope: sql`t.job_id = ${event.job_id} AND t.parent_uuid = ${event.uuid} AND t.uuid <> ''`,
      orderBy: ['start_line'],
    });
  }

  private get maxBytes(): number {
    return this.settings.EVENT_STDOUT_MAX_BYTES_DISPLAY;
  }
}

@Resource(jobHostSummaries)
export class JobHostSummariesController extends ResourceController(jobHostSummaries, [
  'retrieve',
]) {}

/** How many events a user interface should follow at most. */
const MAX_SHOWN = '4000';

const CHILDREN_SUMMARY = object({
  children_summary: mapOf(object({ rowNumber: INTEGER, numChildren: INTEGER })),
  meta_event_nested_uuid: mapOf(STRING),
  event_processing_finished: BOOLEAN,
  is_tree: BOOLEAN,
});

/** Events of one run. Reading the run is enough. */
@ApiTags('job_events')
@Controller('api/v2')
export class RunEventsController {
  constructor(
    private readonly resources: ResourceService,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @Get('jobs/:id/job_events')
  @Header('X-UI-Max-Events', MAX_SHOWN)
  @Route({
    ...LIST,
    operationId: 'jobs_job_events_list',
    summary: 'Events of one job, in the order of its output.',
    parent: jobs,
    events: true,
  })
  ofJob(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return this.list(jobs, request);
  }

  @Get('project_updates/:id/events')
  @Header('X-UI-Max-Events', MAX_SHOWN)
  @Route({
    ...LIST,
    operationId: 'project_updates_events_list',
    summary: 'Events of one project update, in the order of its output.',
    parent: projectUpdates,
    events: true,
  })
  ofProjectUpdate(@Req() request: ApiRequest): Promise<Page<Representation>> {
    return this.list(projectUpdates, request);
  }

  @Get('jobs/:id/job_events/children_summary')
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'jobs_job_events_children_summary',
    summary: 'How the events of one job hang together.',
    parent: jobs,
    response: CHILDREN_SUMMARY,
  })
  async childrenSummary(@Req() { params, actor }: ApiRequest): Promise<ChildrenSummary> {
    const job = await this.resources.load(jobs, params.id, actor);
    if (job.event_processing_finished !== true) return UNFINISHED;
    const events = await this.database.rows<TreeEvent & Record<string, unknown>>(sql`
      SELECT counter, uuid, parent_uuid, event FROM job_events
      WHERE job_id = ${job.id} ORDER BY counter`);
    return summarizeTree(events);
  }

  private async list(definition: typeof jobs, request: ApiRequest): Promise<Page<Representation>> {
    const run = await this.resources.load(definition, request.params.id, request.actor);
    const maxBytes = this.settings.EVENT_STDOUT_MAX_BYTES_DISPLAY;
    return listJobEvents(this.resources, request, maxBytes, {
      events: true,
      scope: sql`t.job_id = ${run.id}`,
      visible: sql`TRUE`,
      orderBy: ['start_line', 'counter'],
    });
  }
}
