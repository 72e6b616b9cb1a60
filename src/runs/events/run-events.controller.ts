import { Controller, Get, UseInterceptors } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import type { Page } from '../../common/list/page.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import type { Representation } from '../../common/resource/represent.js';
import { CommonServices } from '../../common/rest/common-services.service.js';
import { CurrentActor, ListParams, Target } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { MaxEventsInterceptor } from './max-events.interceptor.js';
import { eventsRoute, listEventsOfRun } from './run-events.js';

/** The events of a run; those of jobs have a path of their own. */
@Controller()
export abstract class RunEventsController {
  protected abstract readonly runs: ResourceDefinition;

  constructor(private readonly services: CommonServices) {}

  @Route((runs) => eventsRoute(runs, 'events'))
  @Get()
  @UseInterceptors(MaxEventsInterceptor)
  list(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return listEventsOfRun(this.services, this.runs, run, query, actor);
  }
}
