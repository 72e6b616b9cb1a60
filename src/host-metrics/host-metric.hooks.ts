import { Injectable } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { HostMetricSchema } from './host-metric.schema.js';
import { HostMetricsRepository } from './host-metrics.repository.js';

/** DELETE keeps the row: the host comes back with the next job that touches it. */
@Injectable()
export class HostMetricHooks implements ResourceHooks<HostMetricSchema> {
  constructor(private readonly metrics: HostMetricsRepository) {}

  async prepareDelete({ id }: RowOf<HostMetricSchema>): Promise<Reply> {
    await this.metrics.markDeleted(id);
    return Reply.noContent();
  }
}
