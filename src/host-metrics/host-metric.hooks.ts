import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { HostMetric } from './host-metric.entity.js';
import { HostMetricsRepository } from './host-metrics.repository.js';

/** Marks a row as deleted. The next job on the host restores the row. */
@Injectable()
export class HostMetricHooks implements ResourceHooks<HostMetric> {
  constructor(private readonly metrics: HostMetricsRepository) {}

  async prepareDelete({ id }: RowOf<HostMetric>): Promise<boolean> {
    await this.metrics.markDeleted(id);
    return true;
  }
}
