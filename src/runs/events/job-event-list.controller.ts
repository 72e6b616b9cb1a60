import { Get, UseInterceptors } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import * as json from '../../common/fields/json-schema.js';
import type { Page } from '../../common/list/page.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { Row } from '../../common/resource/define-resource.js';
import type { Representation } from '../../common/resource/representation.js';
import { CommonServices } from '../../common/rest/common-services.service.js';
import { CurrentActor, ListParams, Target } from '../../common/rest/parameters.js';
import { Resource } from '../../common/rest/resource.controller.js';
import { Route } from '../../common/rest/route.js';
import { jobs } from '../jobs.resource.js';
import { NO_TREE, summarizeTree, UNFINISHED, type ChildrenSummary } from './job-event-tree.js';
import { JobEventsRepository } from './job-events.repository.js';
import { MaxEventsInterceptor } from './max-events.interceptor.js';
import { eventsRoute, listEventsOfRun } from './run-events.js';

const CHILDREN_SUMMARY = json.object({
  children_summary: json.described(
    json.mapOf(json.object({ rowNumber: json.INTEGER, numChildren: json.INTEGER })),
    'Position and number of children by counter of an event.',
  ),
  meta_event_nested_uuid: json.described(
    json.mapOf(json.STRING),
    'Identifiers of events that belong to the given counter.',
  ),
  event_processing_finished: json.described(json.BOOLEAN, 'True if all events are stored.'),
  is_tree: json.described(json.BOOLEAN, 'True if the events form a tree.'),
});

/** Maximum number of events of a tree. All of them are in memory, and a job can have millions. */
const MAX_TREE_EVENTS = 100_000;

/** The events of a job and their tree. */
@Resource(jobs)
export class JobEventListController {
  constructor(
    private readonly services: CommonServices,
    private readonly events: JobEventsRepository,
  ) {}

  @Route(eventsRoute(jobs, 'job_events'))
  @Get(':id/job_events')
  @UseInterceptors(MaxEventsInterceptor)
  list(
    @Target() job: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return listEventsOfRun(this.services, jobs, job, query, actor);
  }

  @Route({
    operationId: 'jobs_job_events_children_summary',
    summary: 'Parents and children of the events of one job.',
    parent: jobs,
    response: CHILDREN_SUMMARY,
  })
  @Get(':id/job_events/children_summary')
  async childrenSummary(@Target() job: Row): Promise<ChildrenSummary> {
    if (job.event_processing_finished !== true) return UNFINISHED;
    const events = await this.events.tree(job.id, MAX_TREE_EVENTS + 1);
    return events.length > MAX_TREE_EVENTS ? NO_TREE : summarizeTree(events);
  }
}
