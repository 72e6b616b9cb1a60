import * as outbox from '../../../src/common/queue/outbox.repository.js';
import { IdempotencyKeysRepository } from '../../../src/common/rest/idempotency-keys.repository.js';
import { sql } from '../../../src/database/sql.js';
import { fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(outbox.OutboxRepository, {
      addDue: [['runs', [1], new Map([[1, 'here']])]],
      reconcile: [['runs', sql`SELECT 1 AS id, 'here' AS machine`]],
      acknowledge: [['runs', [1]]],
      postpone: [['runs', 1, 60]],
      takeDue: [['runs', 60, 10]],
      countByQueue: [[]],
      secondsDueByQueue: [[]],
    }),
    samplesOf(IdempotencyKeysRepository, {
      claim: [['k', 'r']],
      removeOld: [[1, 10]],
    }),
  ],
  fragments: [
    fragmentsOf(outbox, {
      acknowledgement: { calls: [['runs', sql`SELECT 1`]], inside: (statement) => statement },
      isQueued: [['runs', sql`1`]],
    }),
  ],
} satisfies FeatureSamples;
