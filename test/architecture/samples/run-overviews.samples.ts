import { sql } from '../../../src/database/sql.js';
import * as jobCredentials from '../../../src/runs/job-credentials.repository.js';
import { RunStatisticsRepository } from '../../../src/runs/run-statistics.repository.js';
import * as overviews from '../../../src/runs/run-overviews.repository.js';
import { CALLER } from './actors.js';
import { samplesOf, type FeatureSamples } from './samples.js';

const LOOKBACK = { days: 14, newest: 100 };
const NEWEST = { days: 14, jobs: 100 };

export default {
  repositories: [
    samplesOf(jobCredentials.JobCredentialsRepository, { ofJobs: [[[1], CALLER]] }),
    samplesOf(RunStatisticsRepository, {
      outcomes: [[CALLER, LOOKBACK]],
      slowTasks: [[CALLER, NEWEST, 5]],
      failingHosts: [[CALLER, NEWEST, 5]],
      queue: [[CALLER]],
      results: [[CALLER, { period: '1 week', unit: 'day', types: ['job'] }]],
    }),
    samplesOf(overviews.RunOverviewsRepository, {
      complete: [[[1]]],
      hostOutcomes: [[[1]]],
      activeRunsOf: [
        [['inventory_id'], [1]],
        [['project_id', 'unified_job_template_id'], [1]],
      ],
      countActive: [[]],
      totals: [[]],
      onNode: [[sql`'host'`]],
      inGroup: [[sql`1`, sql`ARRAY['host']`]],
      latestOfHost: [[sql`1`, CALLER, 5]],
      lastSuccess: [[1, CALLER]],
      active: [[CALLER, 8]],
      failed: [[CALLER, LOOKBACK, 8]],
      awaiting: [[CALLER, 8]],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
