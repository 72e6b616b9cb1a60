import { Controller, Get, Headers } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { Reply } from '../common/http/reply.js';
import { Route } from '../common/rest/route.js';
import {
  anyOf,
  freeObject,
  list,
  mapOf,
  NUMBER,
  object,
  orNull,
  STRING,
} from '../common/fields/json-schema.js';
import { MetricsService } from './metrics.service.js';

const METRICS = mapOf(
  object(
    {
      name: STRING,
      help: STRING,
      type: STRING,
      aggregator: STRING,
      values: list(
        object(
          {
            value: { ...orNull(NUMBER), description: 'Null: nothing was measured yet.' },
            labels: mapOf(anyOf(STRING, NUMBER)),
            metricName: STRING,
            exemplar: orNull(freeObject('An observation as an example.')),
          },
          ['metricName', 'exemplar'],
        ),
      ),
    },
    ['aggregator'],
  ),
);

const route = {
  kind: 'document',
  access: 'authenticated',
  standing: 'auditor',
} as const;

@ApiTags('operations')
@ApiBearerAuth()
@Controller()
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Route({
    ...route,
    operationId: 'prometheus_metrics',
    outsideApi: true,
    summary: 'Metrics for superusers and system auditors, as Prometheus text.',
    produces: 'text/plain',
    response: STRING,
  })
  @Get('metrics')
  async prometheus(): Promise<Reply> {
    return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
  }

  @Route({
    ...route,
    operationId: 'metrics',
    summary: 'Metrics for superusers and system auditors, as JSON; as text where that is accepted.',
    texts: ['text/plain'],
    response: METRICS,
  })
  @Get('api/v2/metrics')
  async api(@Headers('accept') accept?: string): Promise<Reply | object> {
    if (accept?.includes('text/plain')) {
      return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
    }
    const metrics = await this.metrics.json();
    return Object.fromEntries(metrics.map((metric) => [metric.name, metric]));
  }
}
