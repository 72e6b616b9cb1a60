import { Controller, Get, Headers } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiTags } from '@nestjs/swagger';
import { Reply } from '../common/http/reply.js';
import { Route } from '../common/rest/route.js';
import * as json from '../common/fields/json-schema.js';
import { memberOf } from '../common/records.js';
import { MetricsService } from './metrics.service.js';

const METRICS = json.mapOf(
  json.object({
    help_text: json.STRING,
    type: json.STRING,
    samples: json.list(
      json.object(
        {
          name: {
            ...json.STRING,
            description: 'Present if it differs from the name of the metric.',
          },
          labels: json.mapOf(json.anyOfSchemas(json.STRING, json.NUMBER)),
          value: { ...json.orNull(json.NUMBER), description: 'Null: not measured yet.' },
        },
        ['name'],
      ),
    ),
  }),
);

@ApiTags('operations')
@ApiBearerAuth()
@Controller()
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Route({
    systemRole: 'auditor',
    operationId: 'prometheus_metrics',
    outsideApi: true,
    summary: 'Metrics for superusers and system auditors, as Prometheus text.',
    produces: 'text/plain',
    response: json.STRING,
  })
  @Get('metrics')
  async prometheus(): Promise<Reply> {
    return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
  }

  @Route({
    systemRole: 'auditor',
    operationId: 'metrics',
    summary: 'Metrics for superusers and system auditors, as JSON or, if accepted, as text.',
    texts: ['text/plain'],
    response: METRICS,
  })
  @ApiHeader({ name: 'accept', description: 'Media type of the response.', required: false })
  @Get('api/v2/metrics')
  async api(@Headers('accept') accept?: string): Promise<Reply | object> {
    if (accept?.includes('text/plain')) {
      return Reply.text(200, await this.metrics.text(), this.metrics.contentType);
    }
    const metrics = await this.metrics.json();
    return Object.fromEntries(
      metrics.map(({ name, help, type, values }) => [
        name,
        {
          help_text: help,
          type: String(type),
          samples: values.map((sample) => {
            const { labels, value } = sample;
            const sampleName = memberOf(sample, 'metricName') ?? name;
            return { ...(sampleName === name ? {} : { name: sampleName }), labels, value };
          }),
        },
      ]),
    );
  }
}
