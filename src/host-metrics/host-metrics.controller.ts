import { Get } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Page } from '../common/list/page.js';
import type { QueryParameters } from '../common/list/query.js';
import type { Representation } from '../common/resource/represent.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { Route } from '../common/rest/route.js';
import { hostMetrics } from './host-metrics.resource.js';
import { listForAuditors } from './list-for-auditors.js';

@Resource(hostMetrics)
export class HostMetricsController extends ResourceController(hostMetrics, [
  'retrieve',
  'destroy',
]) {
  @Route(listForAuditors(hostMetrics))
  @Get()
  all(
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.services.resources.list(hostMetrics, query, actor);
  }
}
