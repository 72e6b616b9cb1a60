import { activityOf } from '../activity/sublists.js';
import { Resource } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { sql, TRUE } from '../database/sql.js';
import { RunController } from '../runs/run.controller.js';
import { labelsOf } from '../labels/sublists.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import { approvalsOf } from './workflow-jobs.repository.js';

@Resource(workflowJobs)
@SubList(
  'workflow_nodes',
  // The permission to read the workflow job includes its nodes.
  children('workflow_nodes', { readOnly: true, options: () => ({ visible: TRUE }) }),
)
@SubList('labels', labelsOf())
@SubList(
  'notifications',
  // Includes the notifications of its approvals.
  children('notifications', {
    readOnly: true,
    scope: ({ id }) => sql`(t.unified_job_id = ${id} OR t.unified_job_id IN (${approvalsOf(id)}))`,
  }),
)
@SubList('activity_stream', activityOf())
export class WorkflowJobsController extends RunController(workflowJobs) {}
