import { CALLER } from './actors.js';
import type { WebhookEvent } from '../../../src/code-hosts/event.js';
import { sql } from '../../../src/database/sql.js';
import * as statusPosts from '../../../src/webhooks/status-posts.repository.js';
import type { IncomingDelivery, UnverifiedRequests } from '../../../src/webhooks/delivery.js';
import * as deliveries from '../../../src/webhooks/webhook-deliveries.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const EVENT: WebhookEvent = {
  service: 'service_a',
  type: 'push',
  guid: 'guid',
  guidWindowSeconds: 60,
  ref: null,
  refName: null,
  headRef: null,
  statusApi: null,
  pushRef: null,
  sender: null,
  payload: {},
  payloadText: '{}',
};
const DELIVERY: IncomingDelivery & { event: WebhookEvent } = {
  templateId: 1,
  service: 'service_a',
  event: EVENT,
  size: 2,
  source: '127.0.0.1',
  redeliveryOf: null,
};
const UNVERIFIED: UnverifiedRequests = {
  templateId: 1,
  service: 'service_a',
  verdict: 'rejected',
  reason: '',
  event: '',
  answer: 403,
  size: 2,
  source: '127.0.0.1',
  repeats: 1,
};
const POST: statusPosts.LeasedPost = {
  id: 1,
  jobId: 2,
  runType: 'job',
  attempt: 1,
  status: 'failed',
  url: 'https://a.example',
  tries: 0,
  overdue: false,
  service: 'service_a',
  credentialId: 3,
  organizationId: 1,
  template: null,
};
const ATTEMPT = { answer: 500, detail: '', duration_ms: 5 };

export default {
  repositories: [
    samplesOf(deliveries.WebhookDeliveriesRepository, {
      countVerdicts: [[CALLER, { days: 14, newest: 100 }]],
      accept: [[[{ delivery: DELIVERY, template: { dedupesBody: true } }]]],
      record: [
        [
          [
            {
              delivery: DELIVERY,
              outcome: { verdict: 'ignored', reason: '', answer: 202 },
              job: null,
            },
          ],
        ],
      ],
      originals: [[[{ delivery: DELIVERY, template: { dedupesBody: true } }]]],
      setRuns: [[[[1, { id: 2, type: 'job' }]]]],
      supersede: [[[1], 2]],
      ofRuns: [[[1], CALLER]],
      facts: [[]],
      newestWithPayload: [[1, { rows: 5, bytes: 100 }]],
      waitingPushes: [[1, 'refs/heads/main']],
      countUnverified: [[[UNVERIFIED]]],
      countOld: [[30]],
      removeOld: [[30, 10]],
      removeOldPayloads: [[30, 10]],
    }),
    samplesOf(statusPosts.StatusPostsRepository, {
      add: [[[{ jobId: 1, status: 'failed', state: 'failure' }]]],
      jobOf: [[1]],
      lease: [[1]],
      finish: [
        [POST, 'sent', ''],
        [POST, 'failed', 'No.', ATTEMPT],
      ],
      postpone: [[POST, 5, 'Later.', ATTEMPT]],
      waitSeconds: [[1]],
    }),
  ],
  fragments: [
    fragmentsOf(deliveries, { redeliverable: { calls: [[[1]]], inside: asQuery } }),
    fragmentsOf(statusPosts, { hasUnsentPosts: [[sql`1`]] }),
  ],
} satisfies FeatureSamples;
