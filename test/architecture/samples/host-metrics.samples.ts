import { sql } from '../../../src/database/sql.js';
import * as metrics from '../../../src/host-metrics/host-metrics.repository.js';
import { MonthlyHostMetricsRepository } from '../../../src/host-metrics/monthly-host-metrics.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(metrics.HostMetricsRepository, {
      countJob: [[['web-1']]],
      markDeleted: [[1]],
      markInactive: [[12, 10]],
      removeDeleted: [[36, 10]],
    }),
    samplesOf(MonthlyHostMetricsRepository, { recount: [[]] }),
  ],
  fragments: [
    fragmentsOf(metrics, { metricsByMonth: { calls: [[sql`now()::date`]], inside: asQuery } }),
  ],
} satisfies FeatureSamples;
