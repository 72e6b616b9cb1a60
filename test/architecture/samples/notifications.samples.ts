import { sql } from '../../../src/database/sql.js';
import type { Lease, AttemptOutcome } from '../../../src/notifications/notification-lease.js';
import * as attempts from '../../../src/notifications/notification-attempts.repository.js';
import { NotificationLeasesRepository } from '../../../src/notifications/notification-leases.repository.js';
import { NotificationTemplatesRepository } from '../../../src/notifications/notification-templates.repository.js';
import * as notifications from '../../../src/notifications/notifications.repository.js';
import { CALLER } from './actors.js';
import { fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const LEASE: Lease = {
  id: 1,
  attempts: 1,
  event: 'success',
  message_id: 'm',
  delivered: [],
  subject: '',
  body: {},
  text: null,
  unified_job_id: 1,
  run_template_id: 1,
  notification_type: 'webhook',
  notification_template_id: 1,
  notification_configuration: {},
  messages: null,
  overdue: false,
};
const OUTCOME: AttemptOutcome = {
  status: 'failed',
  error: '',
  sent: 0,
  delivered: [],
  delaySeconds: null,
  message: null,
  attempt: { statusCode: null, detail: '', durationMs: 1 },
};
const RANGE = { from: '2026-01-01T00:00:00Z', to: null, statuses: ['failed'], events: [] };
const MESSAGE = { subject: '', body: {}, text: '' };

export default {
  repositories: [
    samplesOf(notifications.NotificationsRepository, {
      countOld: [[90]],
      removeOld: [[90, 10]],
      fire: [[[{ jobId: 1, event: 'success', attachedFor: 'success' }]]],
      addTest: [[1, 'webhook', MESSAGE]],
      addResends: [[[1]]],
      isBeingResent: [[1]],
      newestOf: [[1, RANGE, 10]],
      recent: [[[1], 5]],
      namesOfPending: [[1]],
      countPending: [[]],
      countRetrying: [[]],
      failing: [[CALLER, 14, 100, 8]],
    }),
    samplesOf(NotificationLeasesRepository, {
      targets: [[[1]]],
      lease: [[[1]]],
      renew: [[LEASE]],
      keepDelivered: [[LEASE]],
      settle: [[[{ lease: LEASE, outcome: OUTCOME }]]],
      postpone: [[1, 60, 'paused']],
    }),
    samplesOf(attempts.NotificationAttemptsRepository, {}),
    samplesOf(NotificationTemplatesRepository, { activityFields: [[1]] }),
  ],
  fragments: [
    fragmentsOf(notifications, { hasUnfinished: [[sql`1`]] }),
    fragmentsOf(attempts, {
      addAttempts: { calls: [[sql`SELECT 1, 2`]], inside: (statement) => statement },
      abandonAttempts: { calls: [[sql`SELECT 1 AS id`]], inside: (statement) => statement },
      endAttempts: {
        calls: [
          [
            sql`SELECT 1 AS id, 1 AS attempts, 'failed' AS status, NULL::int AS status_code,
              '' AS detail, 1 AS duration_ms`,
          ],
        ],
        inside: (statement) => statement,
      },
    }),
  ],
} satisfies FeatureSamples;
