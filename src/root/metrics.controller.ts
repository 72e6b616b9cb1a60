import { Controller, Get, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/http/errors.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route, type RouteInfo } from '../common/http/route.js';
import { MetricsService } from './metrics.service.js';

const route = (operationId: string): RouteInfo => ({
  kind: 'document',
  access: 'authenticated',
  operationId,
  summary: 'Metrics for superusers and system auditors, as Prometheus text or JSON.',
  response: { type: 'object', additionalProperties: true },
});

@ApiTags('operations')
@ApiBearerAuth()
@Controller()
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Get('metrics')
  @Route(route('prometheus_metrics'))
  async prometheus(@Req() { actor }: ApiRequest): Promise<Reply> {
    assertMayRead(actor);
    return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
  }

  @Get('api/v2/metrics')
  @Route(route('metrics'))
  async api(@Req() { actor, headers }: ApiRequest): Promise<Reply | object> {
    assertMayRead(actor);
    if (headers.accept?.includes('text/plain')) {
      return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
    }
    const metrics = (await this.metrics.json()) as { name: string }[];
    return Object.fromEntries(metrics.map((metric) => [metric.name, metric]));
  }
}

function assertMayRead(actor: Actor): void {
  if (!actor.isSuperuser && !actor.isSystemAuditor) throw new Forbidden();
}
