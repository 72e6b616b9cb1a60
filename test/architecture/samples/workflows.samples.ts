import { sql } from '../../../src/database/sql.js';
import { WorkflowGraphsRepository } from '../../../src/workflows/workflow-graphs.repository.js';
import { WorkflowJobNodesRepository } from '../../../src/workflows/workflow-job-nodes.repository.js';
import * as jobs from '../../../src/workflows/workflow-jobs.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(jobs.WorkflowJobsRepository, {
      takeIdsOf: [[1, 2]],
      insertAll: [
        [
          {
            jobs: [{ id: 1, type: 'workflow_job' }],
            nodes: [{ id: 2, prompts: '{}' }],
            edges: [{ parent_id: 2, child_id: 3, kind: 'success' }],
            labels: [{ workflow_job_id: 1, label_id: 4 }],
            lists: { credentials: [[2, 5]], labels: [[2, 4]], instance_groups: [[2, 6]] },
          },
        ],
      ],
      insertApprovals: [[[1], [2]]],
      expiredApprovals: [[]],
      pendingApprovals: [[1]],
      insertHolds: [[[1, 2], 'Change from a fork']],
      pendingApprovalsOf: [[[1, 2]]],
      lacksApproval: [[1]],
      hasStarted: [[1]],
      ready: [[10, [1]]],
      explain: [[]],
      running: [[[1]]],
      storeArtifacts: [[[{ id: 1, artifacts: '{}', secret: '' }]]],
      chains: [[[1]]],
      labelsOf: [[1, [2]]],
    }),
    samplesOf(WorkflowJobNodesRepository, {
      nodesOf: [[[1]]],
      nodesOfRuns: [[]],
      facts: [[[1], CALLER]],
      onPage: [[1, CALLER]],
      edges: [[1]],
      states: [[1]],
      former: [[1]],
      storeOutcomes: [[[{ jobId: 1, status: 'failed' }]]],
      skipUnstarted: [[[1]]],
    }),
    samplesOf(WorkflowGraphsRepository, {
      due: [[10, [1]]],
      follow: [[[1]]],
      locked: [[[1]]],
      nodes: [[[1]]],
      starting: [[[1]]],
      linkRuns: [[[{ id: 1, runId: 2, artifacts: '{}', secret: '' }]]],
      end: [[new Map([[1, 'skipped' as const]]), true]],
      activeRuns: [[[1]]],
      artifactSizes: [[[1]]],
      runsWithArtifacts: [[1]],
    }),
  ],
  fragments: [
    fragmentsOf(jobs, {
      approvalFacts: { calls: [[[1], CALLER]], inside: asQuery },
      workflowJobsWhere: [[sql`wfj.id = 1`]],
      approvalsOf: [[1]],
    }),
  ],
} satisfies FeatureSamples;
