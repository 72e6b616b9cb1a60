import * as deliveries from '../../../src/activity/activity-deliveries.repository.js';
import * as activity from '../../../src/activity/activity.repository.js';
import { sql } from '../../../src/database/sql.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const ENTRY = {
  operation: 'create' as const,
  object1: { type: 'team', id: 1, name: 'Ops' },
  changes: {},
};

export default {
  repositories: [
    samplesOf(activity.ActivityRepository, {
      countOld: [[90]],
      deletedProjectFolders: [[['_1__demo']]],
      removeOld: [[90, 10]],
      record: [
        [[ENTRY], { id: 1, username: 'ada' }],
        [[ENTRY], null],
      ],
    }),
    samplesOf(deliveries.ActivityDeliveriesRepository, {
      next: [[500]],
      removeSent: [[[1, 2]]],
      removeOrphans: [[]],
      secondsWaiting: [[]],
    }),
  ],
  fragments: [
    fragmentsOf(deliveries, {
      insertWithDeliveries: {
        calls: [
          [
            sql`INSERT INTO activity_stream (operation) VALUES ('create')`,
            { LOG_AGGREGATOR_ENABLED: true, LOG_AGGREGATOR_LOGGERS: ['awx'] },
          ],
        ],
        inside: (statement) => statement,
      },
    }),
    fragmentsOf(activity, {
      grantedRole: { calls: [[sql`1`]], inside: asQuery },
      describedEntries: { calls: [[[1]]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
