import { Get } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import type { Page } from '../../common/list/page.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { Row } from '../../common/resource/define-resource.js';
import type { Representation } from '../../common/resource/representation.js';
import { CurrentActor, ListParams, Target } from '../../common/rest/parameters.js';
import { Resource, ResourceController } from '../../common/rest/resource.controller.js';
import { Route } from '../../common/rest/route.js';
import { sql } from '../../database/sql.js';
import { listEvents } from '../../common/rest/event-list.js';
import { jobEvents } from './job-events.resource.js';

const LIST = { kind: 'list', resource: jobEvents } as const;

/** Events of all runs that the caller can read. */
@Resource(jobEvents)
export class JobEventsController extends ResourceController(jobEvents, ['retrieve']) {
  @Route({
    ...LIST,
    operationId: 'job_events_list',
    summary: 'List of job events.',
    events: true,
  })
  @Get()
  list(
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return listEvents(jobEvents, this.services, query, actor, { events: true });
  }

  @Route({
    ...LIST,
    link: 'children',
    operationId: 'job_events_children_list',
    summary: 'Events directly below one event.',
    parent: jobEvents,
    events: true,
  })
  @Get(':id/children')
  children(
    @Target() event: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return listEvents(jobEvents, this.services, query, actor, {
      events: true,
      scope: sql`t.job_id = ${event.job_id} AND t.parent_uuid = ${event.uuid} AND t.uuid <> ''`,
      orderBy: ['start_line'],
    });
  }
}
