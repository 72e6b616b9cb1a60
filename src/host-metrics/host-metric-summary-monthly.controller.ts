import { Get } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Page } from '../common/list/page.js';
import type { QueryParameters } from '../common/list/query.js';
import type { Representation } from '../common/resource/represent.js';
import { CurrentActor, ListParams } from '../common/rest/parameters.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { Route } from '../common/rest/route.js';
import { monthlyHostMetrics } from './host-metrics.resource.js';
import { listForAuditors } from './list-for-auditors.js';

@Resource(monthlyHostMetrics)
export class HostMetricSummaryMonthlyController extends ResourceController(monthlyHostMetrics, [
  'retrieve',
]) {
  @Route(listForAuditors(monthlyHostMetrics))
  @Get()
  all(
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return this.services.resources.list(monthlyHostMetrics, query, actor);
  }
}
