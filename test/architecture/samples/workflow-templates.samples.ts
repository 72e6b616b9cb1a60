import { sql } from '../../../src/database/sql.js';
import * as nodes from '../../../src/workflow-templates/workflow-job-template-nodes.repository.js';
import * as workflows from '../../../src/workflow-templates/workflow-job-templates.repository.js';
import { CALLER } from './actors.js';
import { fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(workflows.WorkflowJobTemplatesRepository, {
      launchable: [
        [[1], CALLER],
        [[1], null],
      ],
      references: [[1, CALLER]],
      copyLabels: [[1, 2]],
      copyApprovals: [[[1], [2], 3]],
      lockApproval: [[1]],
      removeApproval: [[1]],
      removeApprovalsOf: [[1]],
      wouldContain: [[1, 2]],
    }),
    samplesOf(nodes.WorkflowJobTemplateNodesRepository, {
      saved: [[[1]]],
      onPage: [[1, CALLER]],
      edges: [[1]],
      children: [[[1]]],
      edgeBetween: [[1, 2]],
      workflowsOf: [[[1]]],
      lengthOfOthers: [[1, 2]],
      assignApproval: [[1, 2]],
      toCopy: [[1, CALLER]],
      attachCredentials: [[[[1, 2]]]],
      copyLinks: [[[1], [2], CALLER]],
    }),
  ],
  fragments: [
    fragmentsOf(workflows, {
      copiedReference: {
        calls: [['t', 'label', 'read', CALLER]],
        inside: (reference) =>
          sql`SELECT ${reference} FROM (SELECT 1 AS id, 'a' AS name, 2 AS organization_id) t`,
      },
    }),
    fragmentsOf(nodes, {
      templatesRunBy: [[sql`SELECT 1`]],
      isCredentialOfNode: {
        calls: [[sql`1`, 'far']],
        inside: (condition) => sql`SELECT 1 FROM credentials far WHERE ${condition}`,
      },
    }),
  ],
} satisfies FeatureSamples;
