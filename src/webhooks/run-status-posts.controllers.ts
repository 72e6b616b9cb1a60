import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList, subListOf } from '../common/rest/sublist.js';
import { sql, TRUE } from '../database/sql.js';
import { projectUpdates } from '../projects/project-updates.resource.js';
import { jobs } from '../runs/jobs.resource.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { webhookStatusPosts } from './webhook-status-posts.resource.js';

/** Status posts to the code host about one run. */
const posts = subListOf(
  () => webhookStatusPosts,
  (run) => sql`t.job_id = ${run.id}`,
  // The access guard has already checked that the caller may read the run, which includes its posts.
  { options: () => ({ visible: TRUE }) },
);

@Resource(jobs)
@SubList('webhook_status_posts', posts)
export class JobStatusPostsController extends ResourceController(jobs, []) {}

@Resource(workflowJobs)
@SubList('webhook_status_posts', posts)
export class WorkflowJobStatusPostsController extends ResourceController(workflowJobs, []) {}

@Resource(projectUpdates)
@SubList('webhook_status_posts', posts)
export class ProjectUpdateStatusPostsController extends ResourceController(projectUpdates, []) {}
