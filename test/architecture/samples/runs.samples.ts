import { EventPartitionsRepository } from '../../../src/runs/events/event-partitions.repository.js';
import * as events from '../../../src/runs/events/job-events.repository.js';
import {
  JobHostSummariesRepository,
  type HostSummary,
} from '../../../src/runs/events/job-host-summaries.repository.js';
import { RunOutputsRepository } from '../../../src/runs/output/run-outputs.repository.js';
import { JobContextsRepository } from '../../../src/runs/job-contexts.repository.js';
import { OldRunsRepository } from '../../../src/runs/old-runs.repository.js';
import * as leases from '../../../src/runs/run-leases.repository.js';
import { RunQueueRepository } from '../../../src/runs/run-queue.repository.js';
import {
  RunStatesRepository,
  type StateMove,
  type RunStep,
} from '../../../src/runs/run-states.repository.js';
import * as runs from '../../../src/runs/runs.repository.js';
import { JOB_STATUSES } from '../../../src/runs/unified-job.entity.js';
import { sql } from '../../../src/database/sql.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, REQUESTED, samplesOf, type FeatureSamples } from './samples.js';

const RETENTION_OVERRIDE = { template: 1, organization: null, days: 3, oldest: 4 };
const HELD = { id: 1, attempt: 2 };

const EVENT: events.StoredEvent = {
  ...{ uuid: 'u', parentUuid: '', counter: 1, event: 'verbose', eventDisplay: '', eventLevel: 0 },
  ...{ failed: false, changed: false, hostName: '', playbook: '', play: '', task: '', role: '' },
  ...{ stdout: 'line', startLine: 0, endLine: 1, verbosity: 0, eventData: {} },
  created: '2026-01-01T00:00:00Z',
  dataText: '{}',
};

const SUMMARY: HostSummary = {
  ...{ changed: 0, dark: 0, failures: 0, ok: 1, processed: 1, skipped: 0, ignored: 0, rescued: 0 },
  failed: false,
};

export default {
  repositories: [
    samplesOf(runs.RunsRepository, {
      facts: [[[1], CALLER]],
      recent: [[[1], 10]],
      live: [[[1], CALLER]],
      kinds: [[[1]]],
      typesOf: [[[1]]],
      shownUpdates: [[[1]]],
      nameOf: [[1]],
      storeEnvironments: [[[1], [sql`run.project_id`]]],
      attachCredentials: [[[[1, 2]]]],
      attachLabels: [[[[1, 2]]]],
      credentialsOf: [[1]],
      cancelable: [
        [[{ id: 1, type: 'job' }], CALLER],
        [
          [
            { id: 1, type: 'project_update' },
            { id: 2, type: 'workflow_job' },
          ],
          CALLER,
        ],
      ],
      isInRunningWorkflow: [[1]],
      lockTemplate: [[1]],
      isLimitedTo: [[1, 'web']],
      hasActiveAmong: [[[1]]],
      countActive: [[[1]]],
      linkToSchedules: [[[{ id: 1, scheduleId: 2, occurrence: new Date(0) }]]],
    }),
    samplesOf(RunStatesRepository, {
      move: [
        ...JOB_STATUSES.map((to): [RunStep[], StateMove] => [
          [{ id: 1 }],
          { from: ['running'], to },
        ]),
        [[{ id: 1 }], { from: ['waiting'], to: 'running', where: sql`run.id > 0` }],
        [[{ id: 1 }], { from: ['running'], to: 'failed', fields: { job_explanation: 'No.' } }],
        [
          [{ id: 1 }],
          {
            from: ['pending'],
            to: 'waiting',
            placements: new Map([[1, { hostname: 'a', group: 2 }]]),
          },
        ],
      ],
      requestCancel: [[[1]]],
    }),
    samplesOf(RunQueueRepository, {
      active: [[]],
      chooseGroups: [[]],
      stranded: [[]],
      usage: [[]],
      explain: [[[{ id: 1, blockerId: null }]]],
      unresolved: [[10]],
      storeDependencies: [[[{ id: 1, projectUpdateId: null, inventoryUpdateIds: [2] }]]],
      broken: [[]],
    }),
    samplesOf(leases.RunLeasesRepository, {
      renew: [[[HELD], 30]],
      isHeld: [[HELD]],
      isWaiting: [[1]],
      begin: [[HELD, { args: '', cwd: '/', revision: '', isolation: '', env: '{}' }]],
      storeProjectUpdate: [[HELD, 3]],
      storeEnvironmentDigest: [[HELD, 'sha256:0']],
      storeReadsResults: [[HELD, true]],
      claim: [
        [
          {
            ...{ holder: 'here:1', hostPrefix: 'here:', dead: [], except: [1] },
            ...{ takesExpired: true, graceSeconds: 30, leaseSeconds: 30 },
          },
        ],
      ],
      attemptsOfRunning: [[[1]]],
    }),
    samplesOf(JobContextsRepository, { load: [[1]], identityOf: [[1]], environmentOf: [[1]] }),
    samplesOf(events.JobEventsRepository, {
      store: [[HELD, [EVENT]]],
      lastCounters: [[[1]]],
      tree: [[1, 10]],
      tasks: [[1, { events: 5, tasks: 2, hosts: 2 }]],
      propagate: [[1]],
      removeOld: [[30, 100]],
      removeOf: [[[1], 100]],
    }),
    samplesOf(EventPartitionsRepository, {
      extendAhead: [[30]],
      analyze: [[]],
      dropOld: [[30]],
      dropEmpty: [[]],
    }),
    samplesOf(OldRunsRepository, {
      after: [
        [
          { id: 0, created: '-infinity' },
          { days: 90, overrides: [RETENTION_OVERRIDE], isNeeded: (run) => sql`${run} = 1` },
          10,
        ],
      ],
      retentionOverrides: [[sql`SELECT 1 AS id, 2 AS retention_days, 3 AS retention_runs`]],
      removeRuns: [[[1]]],
    }),
    samplesOf(RunOutputsRepository, {
      size: [[1, 0, 10]],
      lines: [[1, 0, 10]],
      after: [[1, 5, { events: 5, bytes: 100 }]],
      tail: [[1, { events: 5, bytes: 100 }]],
      from: [[1, 10, { events: 5, bytes: 100 }]],
      search: [[1, 'text', 5]],
      failures: [[1, 5]],
    }),
    samplesOf(JobHostSummariesRepository, {
      store: [
        [1, new Map([['host', SUMMARY]]), { hosts: new Map([['host', 1]]), originals: null }],
        [2, new Map([['host', SUMMARY]]), { hosts: new Map([['host', 1]]), originals: new Map() }],
      ],
      ofRun: [[1, 10]],
      removeOf: [[[1], 100]],
      failedHosts: [[1]],
      counts: [[1]],
    }),
  ],
  fragments: [
    fragmentsOf(runs, {
      runsOfEvents: { calls: [[[1]]], inside: asQuery },
      allRuns: { calls: [[]], inside: asQuery },
      hasInvalidSignature: [[sql`1`]],
      requestedRuns: { calls: [[[REQUESTED]]], inside: asQuery },
    }),
    fragmentsOf(leases, {
      leaseOf: { calls: [[HELD]], inside: asQuery },
      waitingRuns: { calls: [[]], inside: asQuery },
    }),
    fragmentsOf(events, {
      endOfOutput: { calls: [[sql`1`]], inside: asQuery },
      hasStatistics: [[1]],
    }),
  ],
} satisfies FeatureSamples;
